#pragma once

namespace id2vec {

// Tells JavaScript of Trainer and fillNormal. It is a function of its own because the code that it speaks of may come
// later than the rest of the module.
void register_training();

}  // namespace id2vec
