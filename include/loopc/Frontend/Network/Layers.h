//===- Layers.h - The kinds of layers of networks ---------------*- C++ -*-===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A class for each layer of Layers.def, with setters and getters of TensorRT's
// names for its values: setAxis(int32_t), getAxis(). docs/NetworkLayers.md
// lists them and says what they mean; docs/Network.md, where they differ from
// TensorRT's.
//
//===----------------------------------------------------------------------===//
#ifndef LOOPC_FRONTEND_NETWORK_LAYERS_H
#define LOOPC_FRONTEND_NETWORK_LAYERS_H

#include "loopc/Frontend/Network/Layer.h"

namespace loopc::network {

/// What loops have at their border.
class ILoopBoundaryLayer : public ILayer {
public:
  using ILayer::ILayer;
};

/// What conditionals have at their border.
class IIfConditionalBoundaryLayer : public ILayer {
public:
  using ILayer::ILayer;
};

#define LOOPC_LAYER(CLASS, BASE, ...)                                          \
  class CLASS : public BASE {                                                  \
  public:                                                                      \
    using BASE::BASE;
#define LOOPC_LAYER_END()                                                      \
  }                                                                            \
  ;
#define LOOPC_GIVEN(T, ACCESS, NAME, PYTHON, INITIAL, DOC)                     \
  Returned<T> get##ACCESS() const { return getValue<T>(NAME); }
#define LOOPC_VALUE(T, ACCESS, NAME, PYTHON, INITIAL, DOC)                     \
  void set##ACCESS(Passed<T> value) { setValue<T>(NAME, value); }              \
  LOOPC_GIVEN(T, ACCESS, NAME, PYTHON, INITIAL, DOC)
#define LOOPC_CXX(...) __VA_ARGS__
/// The same at both ends.
#define LOOPC_BOTH_PADDINGS                                                    \
  void setPaddingNd(const Dims &value) {                                       \
    setPrePadding(value);                                                      \
    setPostPadding(value);                                                     \
  }                                                                            \
  Dims getPaddingNd() const { return getPrePadding(); }
#include "loopc/Frontend/Network/Layers.def"
#undef LOOPC_BOTH_PADDINGS

} // namespace loopc::network

#endif // LOOPC_FRONTEND_NETWORK_LAYERS_H
