# ===- hostile_onnx.py - ONNX models that must be refused --------------------===#
#
# Part of the loopc project, under the Apache License v2.0 with LLVM
# Exceptions. See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# ===------------------------------------------------------------------------===#
"""Tables of ONNX models that do not make sense: by node, and by field of the protobuf."""

from __future__ import annotations

import pathlib
from collections.abc import Callable

import onnx
import onnx.parser
from onnx import AttributeProto, ModelProto, TensorProto, helper

HUGE = 2**62

#: One node each: its inputs, and the node. What is in curly brackets is an initializer.
NODES = """
float[2, 3] x | Transpose <perm = [0, 0]> (x)
float[2, 3] x | Transpose <perm = [0, 1, 2]> (x)
float[2, 3] x | Transpose <perm = [0, -4611686018427387904]> (x)
float[2, 3] x | Transpose <perm = 1> (x)
float[2, 3] x | Transpose <perm = "ba"> (x)
float[N] x | Concat <axis = "0"> (x, x)
float[N] x | Concat <axis = 4611686018427387904> (x, x)
float[N] x | Concat <axis = -9223372036854775808> (x, x)
float[N] x | Concat (x, x)
float[N] x | Cast <to = 9999> (x)
float[N] x | Cast <to = -1> (x)
float[N] x | Cast <to = 0> (x)
float[N] x | Cast <to = 1099511627777> (x)
float[N] x | Cast <to = 1.0> (x)
float[N] x | Softmax <axis = 1> (x)
float[N] x | Softmax <axis = 9223372036854775807> (x)
float[N] x | Flatten <axis = 4611686018427387904> (x)
float[2, 3] x | Squeeze (x, a) <int64[1] a = {0}>
float[2, 3] x | Squeeze (x, a) <int64[2] a = {4611686018427387904, 0}>
float[2, 3] x | Unsqueeze (x, a) <int64[2] a = {0, 0}>
float[2, 3] x | Unsqueeze (x, a) <int64[1] a = {-9223372036854775808}>
float[2, 3] x | Reshape (x, a) <int64[2] a = {-1, -1}>
float[2, 3] x | Reshape (x, a) <int64[2] a = {-2, 3}>
float[2, 3] x | Reshape (x, a) <int64[2] a = {4611686018427387904, 4}>
float[2, 3] x | Reshape <allowzero = 1> (x, a) <int64[2] a = {0, -1}>
float[2, 3] x | Reshape (x, a) <int64[3] a = {2, 3, 0}>
float[2, 3] x | Reshape (x, a) <float[2] a = {2, 3}>
float[2, 3] x | Expand (x, a) <int64[2] a = {4611686018427387904, 3}>
float[1, 3] x | Expand (x, a) <int64[2] a = {4611686018427387904, 3}>
float[1, 3] x | Expand (x, a) <int64[2] a = {-5, 3}>
float[1, 3] x | Tile (x, a) <int64[2] a = {4611686018427387904, 4611686018427387904}>
float[1, 3] x | Tile (x, a) <int64[2] a = {-1, 2}>
float[1, 3] x | Tile (x, a) <int64[1] a = {2}>
float[3] x | Pad (x, a) <int64[2] a = {4611686018427387904, 4611686018427387904}>
float[3] x | Pad (x, a) <int64[2] a = {-4, 0}>
float[3] x | Pad (x, a) <int64[3] a = {1, 0, 1}>
float[3] x | Pad <mode = "reflect"> (x, a) <int64[2] a = {9, 9}>
float[3] x | Pad <mode = "sideways"> (x, a) <int64[2] a = {1, 1}>
float[3] x | Slice (x, a, a, a, b) <int64[1] a = {0}, int64[1] b = {0}>
float[3] x | Slice (x, a, b) <int64[1] a = {0}, int64[2] b = {0, 1}>
float[3] x | Slice (x, a, a, b) <int64[1] a = {0}, int64[1] b = {7}>
float[3] x | Slice (x, a, b, c) <int64[2] a = {0, 0}, int64[2] b = {1, 1}, int64[2] c = {0, 0}>
float[3] x | Split <num_outputs = 0> (x)
float[3] x | Split <num_outputs = -1> (x)
float[3] x | Split (x, a) <int64[1] a = {4}>
float[3] x | Split (x, a) <int64[1] a = {-3}>
float[3] x | Gather (x, a) <int64[1] a = {3}>
float[3] x | Gather <axis = 1> (x, a) <int64[1] a = {0}>
float[3] x | Gather (x, a) <float[1] a = {0}>
float[3] x | GatherND <batch_dims = 4611686018427387904> (x, a) <int64[1, 1] a = {0}>
float[3] x | GatherND <batch_dims = -1> (x, a) <int64[1, 1] a = {0}>
float[3] x | GatherND (x, a) <int64[1, 2] a = {0, 0}>
float[3] x | ScatterND (x, a, x) <int64[1, 1] a = {0}>
float[3] x | ScatterElements <reduction = "divide"> (x, a, x) <int64[3] a = {0, 1, 2}>
float[3] x | ScatterElements (x, a, x) <int64[1, 3] a = {0, 1, 2}>
float[3] x | ScatterElements (x, a, x) <int64[3] a = {0, 1, 9}>
float[3] x | TopK (x, a) <int64[1] a = {4611686018427387904}>
float[3] x | TopK (x, a) <int64[2] a = {1, 1}>
float[3] x | TopK (x, a) <float[1] a = {1}>
int64 n | OneHot (n, n, v) <float[2] v = {0, 1}>
int64 n | OneHot (n, d, v) <int64[1] d = {4611686018427387904}, float[2] v = {0, 1}>
int64 n | OneHot (n, d, v) <int64[1] d = {3}, float[3] v = {0, 1, 2}>
int64 n | Range (n, n, d) <int64 d = {0}>
float x | Range (x, b, d) <float b = {3e38}, float d = {1e-30}>
int64 n | ConstantOfShape (s) <int64[2] s = {4611686018427387904, 8}>
int64 n | ConstantOfShape (s) <int64[1] s = {-1}>
int64 n | ConstantOfShape <value = float[2] {1, 2}> (s) <int64[1] s = {1}>
int64 n | EyeLike (n)
float[1, 1, 4, 4] x | Conv (x, w) <float[1, 1, 0, 3] w = {}>
float[1, 1, 4, 4] x | Conv <group = 0> (x, w) <float[1, 1, 1, 1] w = {1}>
float[1, 1, 4, 4] x | Conv <group = -1> (x, w) <float[1, 1, 1, 1] w = {1}>
float[1, 1, 4, 4] x | Conv <group = 4611686018427387904> (x, w) <float[1, 1, 1, 1] w = {1}>
float[1, 1, 4, 4] x | Conv <strides = [0, 1]> (x, w) <float[1, 1, 1, 1] w = {1}>
float[1, 1, 4, 4] x | Conv <strides = [1]> (x, w) <float[1, 1, 1, 1] w = {1}>
float[1, 1, 4, 4] x | Conv <dilations = [-1, 1]> (x, w) <float[1, 1, 1, 1] w = {1}>
float[1, 1, 4, 4] x | Conv <pads = [4611686018427387904, 0, 4611686018427387904, 0]> (x, w) <float[1, 1, 1, 1] w = {1}>
float[1, 1, 4, 4] x | Conv <kernel_shape = [2, 2]> (x, w) <float[1, 1, 1, 1] w = {1}>
float[1, 1, 4, 4] x | Conv <auto_pad = "MAYBE"> (x, w) <float[1, 1, 1, 1] w = {1}>
float[1, 1, 4, 4] x | ConvTranspose <output_padding = [4611686018427387904, 0]> (x, w) <float[1, 1, 1, 1] w = {1}>
float[1, 1, 4, 4] x | ConvTranspose <output_shape = [-4, -4]> (x, w) <float[1, 1, 1, 1] w = {1}>
float[1, 1, 4, 4] x | MaxPool (x)
float[1, 1, 4, 4] x | MaxPool <kernel_shape = [0, 0]> (x)
float[1, 1, 4, 4] x | MaxPool <kernel_shape = [1, 1], pads = [1, 1, 1, 1]> (x)
float[1, 1, 4, 4] x | AveragePool <kernel_shape = [4611686018427387904, 1]> (x)
float[1, 1, 4, 4] x | LpPool <kernel_shape = [1, 1], p = 0> (x)
float[1, 1, 4, 4] x | Resize (x, "", s) <float[4] s = {1, 1, 0, 1}>
float[1, 1, 4, 4] x | Resize (x, "", s) <float[4] s = {1, 1, 1e30, 1e30}>
float[1, 1, 4, 4] x | Resize (x, "", s) <float[3] s = {1, 1, 1}>
float[1, 1, 4, 4] x | Resize (x, "", "", s) <int64[4] s = {1, 1, -3, 4}>
float[1, 1, 4, 4] x | Resize <mode = "psychic"> (x, "", s) <float[4] s = {1, 1, 2, 2}>
float[1, 1, 4, 4] x | GridSample (x, x)
float[1, 1, 4, 4] x | DepthToSpace <blocksize = 0> (x)
float[1, 1, 4, 4] x | SpaceToDepth <blocksize = 3> (x)
float[1, 1, 4, 4] x | SpaceToDepth <blocksize = 4611686018427387904> (x)
float[1, 1, 4, 4] x | LRN <size = 0> (x)
float[1, 1, 4, 4] x | GroupNormalization <num_groups = 0> (x, w, w) <float[1] w = {1}>
float[1, 1, 4, 4] x | BatchNormalization (x, w, w, w, v) <float[1] w = {1}, float[2] v = {1, 1}>
float[2, 2] x | Einsum <equation = "ij,jk->il"> (x, x)
float[2, 2] x | Einsum <equation = "ij->ii"> (x)
float[2, 2] x | Einsum <equation = "i$->i"> (x)
float[2, 2] x | Einsum <equation = "......->i"> (x)
float[2, 2] x | Einsum <equation = ""> (x)
float[2, 2] x | Einsum <equation = "ijk->i"> (x)
float[2, 2] x | Einsum <equation = "ij,->i"> (x)
float[2, 2] x | Gemm (x, w) <float[3, 2] w = {1, 2, 3, 4, 5, 6}>
float[2, 2] x | Gemm (x, x, w) <float[3] w = {1, 2, 3}>
float[2, 2] x | MatMul (x, w) <float w = {1}>
float[2, 2] x | MatMul (x, w) <float[3] w = {1, 2, 3}>
float[2, 2] x | Det (w) <float[2, 3] w = {1, 2, 3, 4, 5, 6}>
float[2, 2] x | Trilu (x, k) <int64[2] k = {0, 1}>
float[2, 2] x | CumSum (x, k) <int64 k = {2}>
float[2, 2] x | CumSum (x, k) <int64 k = {-9223372036854775808}>
float[2, 2] x | ReduceSum (x, k) <int64[2] k = {0, 0}>
float[2, 2] x | ReduceSum (x, k) <int64[1] k = {2}>
float[2, 2] x | ArgMax <axis = 2> (x)
float[2, 2] x | Hardmax <axis = -3> (x)
int32[2] x | BitShift <direction = "UP"> (x, x)
uint8[2] x | BitShift <direction = "UP"> (x, x)
float[2] x | LeakyRelu <alpha = 1> (x)
float[2] x | LeakyRelu <alpha = [1.0]> (x)
float[2] x | LeakyRelu <alpha = "1"> (x)
float[2] x | LeakyRelu <beta = 1.0> (x)
float[2] x | Neg (x, x)
float[2] x | Neg ()
float[2] x | Add (x)
float[2] x | Where (x, x, x)
string[2] x | Add (x, x)
bool[2] x | Neg (x)
float[2] x | If (x) <int64 k = {0}>
float[2] x | Constant ()
float[2] x | Constant <value_int = 1, value_float = 1.0> ()
float[2] x | Constant <value_int = 1.5> ()
float[2] x | QuantizeLinear <axis = 7> (x, s, z) <float[2] s = {1, 1}, uint8[2] z = {0, 0}>
float[2] x | QuantizeLinear (x, s, z) <float[2] s = {1, 1}, uint8[1] z = {0}>
float[4] x | QuantizeLinear <block_size = 3> (x, s) <float[2] s = {1, 1}>
float[4] x | QuantizeLinear <block_size = -4611686018427387904> (x, s) <float[2] s = {1, 1}>
float[4] x | DequantizeLinear (x, s) <float s = {1}>
float[1, 4, 2] x | DFT (x, n) <int64 n = {0}>
float[1, 4, 2] x | DFT (x, n) <int64 n = {-4}>
float[1, 4, 2] x | DFT (x, n) <int64 n = {4611686018427387904}>
float[1, 4, 3] x | DFT (x)
float[1, 4, 1] x | STFT (x, n, "", n) <int64 n = {0}>
float[1, 4, 1] x | STFT (x, n, "", n) <int64 n = {-1}>
int64 n | HannWindow (s) <int64 s = {-3}>
int64 n | HannWindow (s) <int64 s = {4611686018427387904}>
int64 n | MelWeightMatrix (s, s, s, f, f) <int64 s = {-3}, float f = {1}>
int64 n | MelWeightMatrix (s, s, s, f, f) <int64 s = {4611686018427387904}, float f = {1}>
int64 n | RandomUniform <shape = [4611686018427387904, 4]> ()
int64 n | RandomUniform <shape = [-1]> ()
int64 n | Multinomial <sample_size = -1> (f) <float[1, 2] f = {1, 1}>
int64 n | Bernoulli <dtype = 77> (f) <float[1] f = {1}>
float[5, 1, 3] x | LSTM (x, w, w) <float[1, 8, 3] w = {}>
float[5, 1, 3] x | LSTM <hidden_size = 0> (x, w, r) <float[1, 0, 3] w = {}, float[1, 0, 0] r = {}>
float[5, 1, 3] x, float[1, 8, 3] w, float[1, 8, 2] r | LSTM <hidden_size = 3> (x, w, r)
float[5, 1, 3] x, float[1, 8, 3] w, float[1, 8, 2] r | LSTM <hidden_size = -2> (x, w, r)
float[5, 1, 3] x, float[1, 8, 3] w, float[1, 8, 2] r | LSTM <hidden_size = 2, direction = "sideways"> (x, w, r)
float[5, 1, 3] x, float[1, 8, 3] w, float[1, 8, 2] r | LSTM <hidden_size = 2, direction = "bidirectional"> (x, w, r)
float[5, 1, 3] x, float[1, 8, 3] w, float[1, 8, 2] r | LSTM <hidden_size = 2, activations = ["Tanh"]> (x, w, r)
float[5, 1, 3] x, float[1, 8, 3] w, float[1, 8, 2] r | LSTM <hidden_size = 2, activations = ["No", "Such", "Thing"]> (x, w, r)
float[5, 1, 3] x, float[1, 8, 3] w, float[1, 8, 2] r | LSTM <hidden_size = 2, layout = 2> (x, w, r)
float[5, 1, 3] x, float[1, 8, 3] w, float[1, 8, 2] r | LSTM <hidden_size = 2> (x, w, r, "", l) <int32[2] l = {5, 5}>
float[5, 1, 3] x, float[1, 8, 3] w, float[1, 8, 2] r | LSTM <hidden_size = 2> (x, w, r, "", l) <int32[1] l = {6}>
float[5, 1, 3] x, float[1, 8, 3] w, float[1, 8, 2] r | LSTM <hidden_size = 2> (x, w, r, "", l) <int32[1] l = {-1}>
float[1, 2, 4] b, float[1, 1, 2] s | NonMaxSuppression (b, s, n) <int64[2] n = {1, 1}>
float[1, 2, 4] b, float[1, 1, 2] s | NonMaxSuppression <center_point_box = 9> (b, s)
float[1, 1, 4, 4] x | RoiAlign <output_height = 0> (x, r, i) <float[1, 4] r = {0, 0, 1, 1}, int64[1] i = {0}>
float[1, 1, 4, 4] x | RoiAlign (x, r, i) <float[1, 4] r = {0, 0, 1, 1}, int64[1] i = {7}>
float[1, 1, 4, 4] x | RoiAlign <output_width = 4611686018427387904> (x, r, i) <float[1, 4] r = {0, 0, 1, 1}, int64[1] i = {0}>
string[2] x | RegexFullMatch <pattern = "("> (x)
string[2] x | RegexFullMatch (x)
string[2] x | StringNormalizer <case_change_action = "SHOUT"> (x)
string[2] x | TfIdfVectorizer <mode = "TF", min_gram_length = 1, max_gram_length = 1, max_skip_count = 0, ngram_counts = [0, 5], ngram_indexes = [0], pool_strings = ["a"]> (x)
int64[2] x | TfIdfVectorizer <mode = "TF", min_gram_length = 2, max_gram_length = 1, max_skip_count = 0, ngram_counts = [0], ngram_indexes = [0], pool_int64s = [1]> (x)
int64[2] x | TfIdfVectorizer <mode = "TF", min_gram_length = 1, max_gram_length = 1, max_skip_count = 0, ngram_counts = [0], ngram_indexes = [4611686018427387904], pool_int64s = [1]> (x)
int64[2] x | TfIdfVectorizer <mode = "TF", min_gram_length = 1, max_gram_length = 1, max_skip_count = 0, ngram_counts = [0], ngram_indexes = [-1], pool_int64s = [1]> (x)
float[2, 3] x | Attention (x, x)
float[1, 2, 6] x | Attention <q_num_heads = 4, kv_num_heads = 4> (x, x, x)
float[1, 2, 6] x | Attention <q_num_heads = 0, kv_num_heads = 0> (x, x, x)
float[1, 2, 6] x | Attention <q_num_heads = 3, kv_num_heads = 2> (x, x, x)
float[2] x | SplitToSequence (x, s) <int64[2] s = {1, 2}>
float[2] x | SequenceAt (x, s) <int64 s = {0}>
float[2] x | SequenceConstruct ()
float[2] x | SequenceEmpty <dtype = 99> ()
float[2] x | OptionalGetElement (x, x)
float[2] x | ai.onnx.ml.Normalizer <norm = "L9"> (x)
float[1, 2] x | ai.onnx.ml.Scaler <offset = [1.0, 2.0, 3.0], scale = [1.0]> (x)
float[1, 2] x | ai.onnx.ml.Imputer <imputed_value_floats = [1.0, 2.0, 3.0]> (x)
float[1, 2] x | ai.onnx.ml.Imputer (x)
float[1, 2] x | ai.onnx.ml.ArrayFeatureExtractor (x, i) <int64[1] i = {2}>
float[1, 2] x | ai.onnx.ml.OneHotEncoder (x)
float[1, 2] x | ai.onnx.ml.OneHotEncoder <cats_int64s = [1], cats_strings = ["a"]> (x)
float[1, 2] x | ai.onnx.ml.LabelEncoder <keys_floats = [1.0], values_floats = [1.0, 2.0]> (x)
float[1, 2] x | ai.onnx.ml.LabelEncoder <keys_strings = ["a"], values_floats = [1.0]> (x)
float[1, 2] x | ai.onnx.ml.LabelEncoder (x)
float[1, 2] x | ai.onnx.ml.LinearRegressor <coefficients = [1.0, 2.0, 3.0]> (x)
float[1, 2] x | ai.onnx.ml.LinearRegressor <coefficients = [1.0, 2.0], targets = 0> (x)
float[1, 2] x | ai.onnx.ml.LinearRegressor <coefficients = [1.0, 2.0], targets = 4611686018427387904> (x)
float[1, 2] x | ai.onnx.ml.LinearClassifier <coefficients = [1.0, 2.0, 3.0], intercepts = [1.0], classlabels_ints = [0, 1]> (x)
float[1, 2] x | ai.onnx.ml.SVMRegressor <coefficients = [1.0], support_vectors = [1.0, 2.0, 3.0], n_supports = 2, rho = [0.0]> (x)
float[1, 2] x | ai.onnx.ml.SVMRegressor <coefficients = [1.0], support_vectors = [1.0, 2.0], n_supports = -1, rho = [0.0]> (x)
float[1, 2] x | ai.onnx.ml.SVMRegressor <coefficients = [1.0], support_vectors = [1.0, 2.0], n_supports = 1, rho = [0.0], kernel_type = "ODD"> (x)
float[1, 2] x | ai.onnx.ml.SVMClassifier <coefficients = [1.0], support_vectors = [1.0, 2.0], vectors_per_class = [4611686018427387904, 1], classlabels_ints = [0, 1], rho = [0.0]> (x)
float[1, 2] x | ai.onnx.ml.SVMClassifier <coefficients = [1.0], support_vectors = [1.0, 2.0], vectors_per_class = [2, -1], classlabels_ints = [0, 1], rho = [0.0]> (x)
float[1, 2] x | ai.onnx.ml.FeatureVectorizer <inputdimensions = [3, 4]> (x)
float[1, 2] x | ai.onnx.ml.Binarizer <threshold = 1> (x)
float[1, 2] x | ai.onnx.ml.CategoryMapper <cats_int64s = [1]> (x)
float[1, 2] x | ai.onnx.ml.ZipMap (x)
float[1, 2] x | ai.onnx.ml.ZipMap <classlabels_int64s = [1, 2, 3]> (x)
"""

TREES = dict(
    nodes_treeids=[0, 0, 0], nodes_nodeids=[0, 1, 2], nodes_featureids=[0, 0, 0],
    nodes_modes=["BRANCH_LEQ", "LEAF", "LEAF"], nodes_values=[0.5, 0.0, 0.0],
    nodes_truenodeids=[1, 0, 0], nodes_falsenodeids=[2, 0, 0], target_treeids=[0, 0],
    target_nodeids=[1, 2], target_ids=[0, 0], target_weights=[1.0, 2.0], n_targets=1,
)  # fmt: skip
#: What is another way in a regressor of one tree.
TREE_CHANGES = {
    "a circle": {"nodes_modes": ["BRANCH_LEQ", "BRANCH_LEQ", "LEAF"]},
    "a child that is not there": {"nodes_truenodeids": [9, 0, 0]},
    "a negative child": {"nodes_truenodeids": [-1, 0, 0]},
    "a huge child": {"nodes_truenodeids": [HUGE, 0, 0]},
    "too few values": {"nodes_values": [0.5]},
    "too few modes": {"nodes_modes": ["BRANCH_LEQ"]},
    "no such mode": {"nodes_modes": ["BRANCH_UP", "LEAF", "LEAF"]},
    "a feature that is not there": {"nodes_featureids": [7, 0, 0]},
    "a negative feature": {"nodes_featureids": [-1, 0, 0]},
    "a huge feature": {"nodes_featureids": [HUGE, 0, 0]},
    "two nodes of one number": {"nodes_nodeids": [0, 1, 1]},
    "a target out of range": {"target_ids": [0, 1]},
    "a negative target": {"target_ids": [-1, 0]},
    "a weight of no leaf": {"target_nodeids": [1, 7]},
    "a weight of no tree": {"target_treeids": [0, 3]},
    "too few weights": {"target_weights": [1.0]},
    "no targets": {"n_targets": 0},
    "huge targets": {"n_targets": HUGE},
    "huge targets with a base value": {"n_targets": HUGE, "base_values": [1.0]},
    "huge targets of several leaves": {
        "n_targets": HUGE, "nodes_treeids": [0] * 7, "nodes_nodeids": [*range(7)],
        "nodes_featureids": [0] * 7, "nodes_modes": ["BRANCH_LEQ"] * 3 + ["LEAF"] * 4,
        "nodes_values": [0.5, 0.2, 0.7, 0.0, 0.0, 0.0, 0.0],
        "nodes_truenodeids": [1, 3, 5, 0, 0, 0, 0], "nodes_falsenodeids": [2, 4, 6, 0, 0, 0, 0],
        "target_treeids": [0] * 4, "target_nodeids": [3, 4, 5, 6],
        "target_ids": [0, 1000000, 0, 1000000000], "target_weights": [1.0, 2.0, 3.0, 4.0],
    },
    "no such sum": {"aggregate_function": "MEDIAN"},
    "base values of others": {"base_values": [1.0, 2.0, 3.0]},
}  # fmt: skip


def of_node(row: str, opset: int = 23) -> ModelProto:
    """The model of a row of NODES."""
    inputs, node = (part.strip() for part in row.split("|"))
    constants = ""
    if node.endswith(">") and "<" in node and ") <" in node:
        node, _, constants = node.rpartition(") <")
        node, constants = node + ")", "<" + constants
    results = "y, z" if node.startswith(("TopK", "ai.onnx.ml.LinearClassifier")) else "y"
    head = f'<ir_version: 10, opset_import: ["" : {opset}, "ai.onnx.ml" : 4]>\n'
    made: ModelProto = onnx.parser.parse_model(
        f"{head}m ({inputs}) => (y) {constants} {{ {results} = {node} }}"
    )
    return made


def of_tree(changes: dict[str, object]) -> ModelProto:
    """A regressor of one tree with changes."""
    made = of_node("float[1, 2] x | ai.onnx.ml.TreeEnsembleRegressor (x)")
    for name, value in (TREES | changes).items():
        made.graph.node[0].attribute.append(helper.make_attribute(name, value))
    return made


# -- Fields of the protobuf ------------------------------------------------------------

BASE = """
<ir_version: 10, opset_import: ["" : 21]>
m (int64 n, float[3] x) => (float[3] y, float[T, 3] z) <float[3] w = {1, 2, 3}> {
  t = Constant <value = bool {1}> ()
  y, z = Loop (n, t, x) <body = b (int64 i, bool c, float[3] s) => (bool d, float[3] u, float[3] v) {
    d = Identity (c)
    u = Add (s, w)
    v = If (c) <then_branch = p () => (float[3] q) { q = Neg (u) },
                else_branch = e () => (float[3] r) { r = Abs (u) }>
  }>
}
"""
Change = Callable[[ModelProto, pathlib.Path], object]


def loop(m: ModelProto) -> onnx.NodeProto:
    return m.graph.node[1]


def body(m: ModelProto) -> onnx.GraphProto:
    return loop(m).attribute[0].g


def branch(m: ModelProto) -> onnx.GraphProto:
    return body(m).node[2].attribute[0].g


def weight(m: ModelProto) -> TensorProto:
    return m.graph.initializer[0]


def again(fields: object, **values: object) -> None:
    """Sets fields of a message."""
    for name, value in values.items():
        target = fields
        *path, last = name.split("__")
        for step in path:
            target = getattr(target, step)
        if isinstance(value, (list, tuple)):
            del getattr(target, last)[:]
            getattr(target, last).extend(value)
        else:
            setattr(target, last, value)


def tensor(**values: object) -> Change:
    """Another weight."""

    def change(m: ModelProto, _: pathlib.Path) -> None:
        weight(m).ClearField("float_data")
        weight(m).ClearField("raw_data")
        again(weight(m), **values)

    return change


def returned(**values: object) -> Change:
    """Another weight, which nothing refuses: it is an output of the model."""

    def change(m: ModelProto, _: pathlib.Path) -> None:
        extra = m.graph.initializer.add(name="more", data_type=TensorProto.FLOAT)
        again(extra, **values)
        m.graph.node.add(op_type="Identity", input=["more"], output=["returned"])
        m.graph.output.add(name="returned").type.tensor_type.elem_type = TensorProto.FLOAT

    return change


RAW = b"\0" * 12


def outside(**entries: str) -> Change:
    """The weight is in a file of 12 bytes."""

    def change(m: ModelProto, folder: pathlib.Path) -> None:
        (folder / "weights").write_bytes(RAW)
        tensor(data_location=1)(m, folder)
        for key, value in {"location": "weights", **entries}.items():
            weight(m).external_data.add(key=key, value=value)

    return change


def sparse(
    dims: list[int], indices: list[int], values: list[float], shape: object = None
) -> Change:
    """A sparse initializer in the place of the weight."""

    def change(m: ModelProto, _: pathlib.Path) -> None:
        del m.graph.initializer[:]
        made = m.graph.sparse_initializer.add(dims=dims)
        made.values.CopyFrom(helper.make_tensor("w", TensorProto.FLOAT, [len(values)], values))
        made.indices.CopyFrom(
            helper.make_tensor("", TensorProto.INT64, shape or [len(indices)], indices)
        )

    return change


def port(which: str = "input", **values: object) -> Change:
    """Another input or output."""

    def change(m: ModelProto, _: pathlib.Path) -> None:
        again(getattr(m.graph, which)[-1], **values)

    return change


def dim(**values: object) -> Change:
    def change(m: ModelProto, _: pathlib.Path) -> None:
        again(m.graph.input[1].type.tensor_type.shape.dim[0], **values)

    return change


def attribute(**values: object) -> Change:
    """The loop's body is another attribute."""

    def change(m: ModelProto, _: pathlib.Path) -> None:
        made = loop(m).attribute[0]
        made.ClearField("g")
        again(made, **values)

    return change


def node(place: Callable[[ModelProto], onnx.NodeProto], **values: object) -> Change:
    return lambda m, _: again(place(m), **values)


def function(text: str, call: str = "my.f") -> Change:
    """A function, which is called."""

    def change(m: ModelProto, _: pathlib.Path) -> None:
        head = '<ir_version: 10, opset_import: ["" : 21, "my" : 1]>\n'
        made = onnx.parser.parse_model(f"{head}m (float[3] x) => (y) {{ y = {call} (x) }}\n{text}")
        m.CopyFrom(made)

    return change


MY = '<domain: "my", opset_import: ["" : 21, "my" : 1]>\n'


def deep_type(m: ModelProto, _: pathlib.Path) -> None:
    kind = m.graph.input[1].type
    kind.Clear()
    for _level in range(90):
        kind = kind.sequence_type.elem_type
    kind.tensor_type.elem_type = 1


def fifo(m: ModelProto, folder: pathlib.Path) -> None:
    import os

    outside()(m, folder)
    (folder / "weights").unlink()
    os.mkfifo(folder / "weights")


def link(m: ModelProto, folder: pathlib.Path) -> None:
    outside()(m, folder)
    (folder / "weights").unlink()
    (folder / "weights").symlink_to("/etc/passwd")


def folder_of_weights(m: ModelProto, folder: pathlib.Path) -> None:
    outside()(m, folder)
    (folder / "weights").unlink()
    (folder / "weights").mkdir()


def twice(m: ModelProto, folder: pathlib.Path) -> None:
    outside()(m, folder)
    weight(m).external_data.add(key="location", value="others")


FIELDS: dict[str, Change] = {
    # Tensors.
    "one byte too many": tensor(raw_data=RAW + b"\0"),
    "one element too few": tensor(float_data=[1, 2]),
    "one element too many": tensor(float_data=[1, 2, 3, 4]),
    "numbers of another field": tensor(int64_data=[1, 2, 3]),
    "texts for floats": tensor(string_data=[b"1", b"2", b"3"]),
    "a negative extent": tensor(dims=[-3], float_data=[1, 2, 3]),
    "extents whose product is 2^64": tensor(dims=[2**32, 2**32], raw_data=b""),
    "extents whose product is 0 by overflow": tensor(dims=[HUGE, 4], raw_data=b""),
    "a huge extent beside 0": tensor(dims=[HUGE, HUGE, 0], raw_data=b""),
    "huge extents beside 0 in an output": returned(dims=[2**32, 2**32, 0], raw_data=b""),
    "a thousand axes": tensor(dims=[1] * 1000, float_data=[1]),
    "no element type": tensor(data_type=0, raw_data=RAW),
    "an element type of the future": tensor(data_type=99, raw_data=RAW),
    "a negative element type": tensor(data_type=-1, raw_data=RAW),
    "a segment": lambda m, _: again(weight(m), segment__begin=0, segment__end=2),
    "a name that a node defines": lambda m, _: again(weight(m), name="y"),
    "no name": lambda m, _: again(weight(m), name=""),
    "two initializers of one name": lambda m, _: m.graph.initializer.append(weight(m)),
    "half of an element of 4 bits": tensor(data_type=TensorProto.INT4, dims=[3], raw_data=b"\0"),
    "int8 out of range": tensor(data_type=TensorProto.INT8, int32_data=[1, 2, 300]),
    "bool of other bits": tensor(data_type=TensorProto.BOOL, raw_data=b"\x02\x03\xff"),
    # External data.
    "a negative offset": outside(offset="-4"),
    "an offset that is no number": outside(offset="zero"),
    "an offset in hexadecimal": outside(offset="0x4"),
    "a huge offset": outside(offset=str(HUGE)),
    "an offset of 30 digits": outside(offset="9" * 30),
    "an offset that overflows with its length": outside(offset=str(2**63 - 4), length="12"),
    "a length beyond the file": outside(length="13"),
    "a length below the data": outside(length="8"),
    "a negative length": outside(length="-1"),
    "no location": outside(location=""),
    "an absolute location": outside(location="/etc/passwd"),
    "a location above": outside(location="a/../../weights"),
    "a location that is missing": outside(location="nothing"),
    "a location with a null": outside(location="weights\0x"),
    "a device": outside(location="../../../../../../dev/zero"),
    "an unknown entry": outside(color="blue"),
    "a pipe that nobody writes": fifo,
    "a link to elsewhere": link,
    "a folder of weights": folder_of_weights,
    "two locations": twice,
    "raw data, too": lambda m, f: (outside()(m, f), again(weight(m), raw_data=RAW)),
    # Sparse tensors.
    "an index beyond": sparse([3], [3], [1]),
    "a negative index": sparse([3], [-1], [1]),
    "more values than indices": sparse([3], [0], [1, 2]),
    "indices without order": sparse([3], [2, 0], [1, 2]),
    "one index twice": sparse([3], [1, 1], [1, 2]),
    "a huge sparse tensor": sparse([HUGE], [0], [1]),
    "a negative extent of a sparse tensor": sparse([-3], [0], [1]),
    "indices of another rank": sparse([3], [0, 0], [1], [1, 2]),
    # Inputs and outputs.
    "an input without a type": lambda m, _: m.graph.input[1].ClearField("type"),
    "an input without a name": port(name=""),
    "an input of no element type": port(type__tensor_type__elem_type=0),
    "an input of an element type of the future": port(type__tensor_type__elem_type=88),
    "an input of opaque type": lambda m, _: again(m.graph.input[1].type, opaque_type__name="o"),
    "a map of floats": lambda m, _: again(m.graph.input[1].type, map_type__key_type=1),
    "sequences in sequences": deep_type,
    "an output that nobody makes": port("output", name="nobody"),
    "an output without a name": port("output", name=""),
    "an output of another type": port("output", type__tensor_type__elem_type=7),
    "a negative dimension of an input": dim(dim_value=-3),
    "a huge dimension of an input": dim(dim_value=HUGE),
    "no outputs": lambda m, _: m.graph.ClearField("output"),
    "nothing at all in the graph": lambda m, _: m.graph.Clear(),
    # Attributes.
    "a body that is an integer": attribute(type=AttributeProto.INT, i=1),
    "a body that is text": attribute(type=AttributeProto.STRING, s=b"body"),
    "a body that is a tensor": attribute(type=AttributeProto.TENSOR, t__data_type=1),
    "a body that is a type": attribute(
        type=AttributeProto.TYPE_PROTO, tp__tensor_type__elem_type=1
    ),
    "bodies": attribute(type=AttributeProto.GRAPHS, graphs=[onnx.GraphProto()]),
    "an empty body": attribute(type=AttributeProto.GRAPH, g__name="empty"),
    "a body that is a reference": attribute(type=AttributeProto.GRAPH, ref_attr_name="q"),
    "a body of no kind": attribute(type=0),
    "a body of an unknown kind": attribute(name="body2", type=AttributeProto.GRAPH, g__name="b"),
    "a body twice": lambda m, _: loop(m).attribute.append(loop(m).attribute[0]),
    "no body": lambda m, _: loop(m).ClearField("attribute"),
    "an attribute without a name": lambda m, _: again(loop(m).attribute[0], name=""),
    # Nodes.
    "no operator": node(loop, op_type=""),
    "no outputs of a node": node(loop, output=[]),
    "one output twice": node(loop, output=["y", "y"]),
    "an output too many": node(loop, output=["y", "z", "a"]),
    "an input of the loop's own": node(loop, input=["n", "t", "y"]),
    "an input of its body": node(loop, input=["n", "t", "u"]),
    "an input of its body's branch": node(loop, input=["n", "t", "q"]),
    "a trip count of floats": node(loop, input=["x", "t", "x"]),
    "a condition of integers": node(loop, input=["n", "n", "x"]),
    "carried values too many": node(loop, input=["n", "t", "x", "x"]),
    "no inputs of a loop": node(loop, input=[]),
    "a body input twice": lambda m, _: again(body(m).input[2], name="c"),
    "a body input without a name": lambda m, _: again(body(m).input[2], name=""),
    "a body output without a name": lambda m, _: again(body(m).output[1], name=""),
    "a body output that nobody makes": lambda m, _: again(body(m).output[1], name="nobody"),
    "a body that captures nothing": lambda m, _: again(body(m).node[1], input=["s", "nobody"]),
    "a body that captures its loop": lambda m, _: again(body(m).node[1], input=["s", "y"]),
    "a branch that captures the other": lambda m, _: again(branch(m).node[0], input=["r"]),
    "a branch that captures its result": lambda m, _: again(branch(m).node[0], input=["v"]),
    "a branch with an input": lambda m, _: again(branch(m).input.add(), name="a"),
    "a branch without an output": lambda m, _: branch(m).ClearField("output"),
    "a body that repeats a name": lambda m, _: again(body(m).node[1], output=["x"]),
    "a cycle in a body": lambda m, _: again(body(m).node[1], input=["s", "v"]),
    "a condition of a branch of floats": lambda m, _: again(body(m).node[2], input=["s"]),
    "a collected sequence": lambda m, _: again(
        body(m).node[2], op_type="SequenceConstruct", input=["u"], attribute=[]
    ),
    # Opsets, versions and functions.
    "one domain twice": lambda m, _: again(m.opset_import.add(), domain="", version=20),
    "one domain by two names": lambda m, _: again(
        m.opset_import.add(), domain="ai.onnx", version=9
    ),
    "a negative opset": lambda m, _: again(m.opset_import[0], version=-1),
    "an opset of 2^40": lambda m, _: again(m.opset_import[0], version=2**40),
    "no opsets": lambda m, _: m.ClearField("opset_import"),
    "a negative version of the IR": lambda m, _: again(m, ir_version=-1),
    "the IR of 2^40": lambda m, _: again(m, ir_version=2**40),
    "a function without opsets": function('<domain: "my">\nf (a) => (b) { b = Neg (a) }'),
    "a function that calls itself in a branch": function(
        MY
        + """f (a) => (b) {
      c = Constant <value = bool {1}> ()
      b = If (c) <then_branch = p () => (q) { q = my.f (a) }, else_branch = e () => (r) { r = Neg (a) }>
    }"""
    ),
    "a function twice": function(2 * (MY + "f (a) => (b) { b = Neg (a) }\n")),
    "a function of other inputs": function(MY + "f (a, c, d) => (b) { b = Sum (a, c, d) }"),
    "a function without outputs": function(MY + "f (a) => () { b = Neg (a) }"),
    "a function that makes no output": function(MY + "f (a) => (b) { c = Neg (a) }"),
    "a function whose input is twice": function(MY + "f (a, a) => (b) { b = Neg (a) }"),
    "a function that captures": function(MY + "f (a) => (b) { b = Add (a, x) }"),
    "a function without its attribute": function(
        MY + "f <k> (a) => (b) { b = Softmax <axis: int = @k> (a) }"
    ),
    "a reference to no attribute": function(
        MY + "f (a) => (b) { b = Softmax <axis: int = @k> (a) }"
    ),
    "a function with a cycle": function(MY + "f (a) => (b) { c = Neg (b) b = Neg (c) }"),
    "a call of no function": function(MY + "f (a) => (b) { b = Neg (a) }", "my.g"),
}


def of_field(name: str, folder: pathlib.Path) -> bytes:
    """The model with that change; its files are written to the folder."""
    made: ModelProto = onnx.parser.parse_model(BASE)
    FIELDS[name](made, folder)
    return made.SerializeToString()
