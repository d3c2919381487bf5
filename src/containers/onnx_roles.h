// What the operators of an ONNX graph say about roles:
//
//   embedding      Gather(E, ids) · GatherBlockQuantized · EmbedLayerNormalization, ids from a graph input;
//                  Gather(DequantizeLinear(q)) and DequantizeLinear(Gather(q)) too
//   positions      a Gather of rows as wide, whose index comes from "position…" or is computed
//   token_types    … from "token_type…" or "segment…"
//   head           the MatMul, Gemm, MatMulNBits or integer product (MatMulInteger, DynamicQuantizeMatMul) in front
//                  of a graph output, as wide as the embedding
//   head_bias      what an Add behind it, or the operator itself, adds
//   norm_weight, norm_bias   the LayerNormalization that alone takes the sum of the above (metadata "norm_epsilon")
#pragma once

#include "containers/onnx_graph.h"

namespace id2vec {

// Fills directory.hints from the graph; the embedding first.
void find_onnx_roles(const OnnxGraph& graph, const OnnxTensors& tensors, Directory& directory);

}  // namespace id2vec
