#pragma once

namespace id2vec {

// Tells JavaScript of analogyTarget, similarity, principalPlane and sifWeights: see register_training().
void register_geometry();

}  // namespace id2vec
