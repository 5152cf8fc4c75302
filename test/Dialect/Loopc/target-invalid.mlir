// What no target has, and a target where none is read.
// RUN: loopc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{vector_bits must be a power of two, 64 at least; it is 96}}
module attributes {loopc.target = #loopc.target<vector_bits = 96, registers = 16>} {
}

// -----

// expected-error @+1 {{registers must be positive}}
module attributes {loopc.target = #loopc.target<vector_bits = 128, registers = 0>} {
}

// -----

// expected-error @+1 {{mask_bits must be 0, 8, 16, 32 or 64; it is 4}}
module attributes {loopc.target = #loopc.target<vector_bits = 128, registers = 16, mask_bits = 4>} {
}

// -----

// expected-error @+1 {{dot_bits must be 0, 8 or 16; it is 32}}
module attributes {loopc.target = #loopc.target<vector_bits = 128, registers = 16, dot_bits = 32>} {
}

// -----

// expected-error @+1 {{chip must be NVIDIA's name of a GPU, as "sm_90"; it is "90"}}
module attributes {loopc.target = #loopc.target<vector_bits = 128, registers = 16, chip = "90">} {
}

// -----

// expected-error @+1 {{loops must be "auto", "kernel", "cluster", "graph" or "host"; it is "grid"}}
module attributes {loopc.target = #loopc.target<vector_bits = 128, registers = 16, chip = "sm_90", loops = "grid">} {
}

// -----

// expected-error @+1 {{cublas must be "auto", "on" or "off"; it is "yes"}}
module attributes {loopc.target = #loopc.target<vector_bits = 128, registers = 16, chip = "sm_90", cublas = "yes">} {
}

// -----

// expected-error @+1 {{min_work, tf32, libdevice, loops and cublas go with a chip}}
module attributes {loopc.target = #loopc.target<vector_bits = 128, registers = 16, tf32 = true>} {
}

// -----

// expected-error @+1 {{'func.func' op has the attribute 'loopc.target', which may stand at builtin.module only}}
func.func @wrong_place() attributes {loopc.target = #loopc.target<vector_bits = 128, registers = 16>} {
  return
}

// -----

// expected-error @+1 {{'builtin.module' op attribute 'loopc.target' must be a #loopc.target}}
module attributes {loopc.target = "avx512"} {
}
