//===----------------------------------------------------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImporterImpl.h"
using namespace loopc::openvino;
llvm::ArrayRef<LayerRow> loopc::openvino::getRecurrentRows() { return {}; }
