//===- Module.cpp - The extension loopc._loopc ----------------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// What Python needs of the C API, and no more: the package's own modules make
// classes and errors of it. `_loopc.pyi` describes this interface.
//
//===----------------------------------------------------------------------===//

#include "DeviceTensor.h"
#include "Network.h"
#include "Session.h"
#include "Values.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <optional>
#include <utility>
#include <vector>

using namespace loopc::python;
using namespace nanobind::literals;

/// (status, session or None, diagnostics) of a call that makes a session.
template <typename Create> static nb::tuple makeSession(Create create) {
  loopc_session *made = nullptr;
  loopc_diagnostics *diagnostics = nullptr;
  int status;
  {
    nb::gil_scoped_release unlocked;
    status = create(&made, &diagnostics);
  }
  nb::object session = nb::none();
  if (made)
    session = nb::cast(std::make_unique<Session>(made));
  return nb::make_tuple(status, session, takeDiagnostics(diagnostics));
}

/// The same, compiled with the options of a dict: `create` gets them, too.
template <typename Create>
static nb::tuple makeSession(const nb::dict &dict, Create create) {
  Options options = makeOptions(dict);
  CompileWatch watch(dict, options.get());
  nb::tuple made =
      makeSession([&](loopc_session **session, loopc_diagnostics **said) {
        return create(options.get(), session, said);
      });
  watch.rethrow();
  return made;
}

/// A path in the encoding of the file system (os.fsencode).
static std::string pathOf(const nb::bytes &path) {
  std::string text(path.c_str(), path.size());
  if (text.empty() || text.find('\0') != std::string::npos)
    throw ArgumentError("a path must not be empty or hold a null character");
  return text;
}

/// [(name, is an output, is a sequence, number of the port of the keys), ...].
static nb::list describeMaps(const loopc_model &model) {
  nb::list list;
  for (const loopc_map *map = model.maps; map && map->name; ++map)
    list.append(nb::make_tuple(map->name, map->is_output != 0,
                               map->is_sequence != 0, map->keys));
  return list;
}

static nb::tuple createFromFile(const nb::bytes &file, const nb::dict &dict) {
  std::string path = pathOf(file);
  return makeSession(dict, [&](auto *options, auto **session, auto **said) {
    return loopc_session_create_from_file(path.c_str(), options, session, said);
  });
}

static nb::tuple createFromBytes(const nb::bytes &data, const nb::dict &dict) {
  return makeSession(dict, [&](auto *options, auto **session, auto **said) {
    return loopc_session_create_from_bytes(data.c_str(), data.size(), options,
                                           session, said);
  });
}

static nb::tuple loadShared(const nb::bytes &file,
                            const std::optional<std::string> &name) {
  std::string path = pathOf(file);
  return makeSession([&](loopc_session **session, loopc_diagnostics **said) {
    return loopc_session_load_shared(
        path.c_str(), name ? name->c_str() : nullptr, session, said);
  });
}

/// (status, diagnostics) of a compilation into a file.
template <typename Compile>
static nb::tuple compile(const nb::dict &dict, Compile compile) {
  Options options = makeOptions(dict);
  CompileWatch watch(dict, options.get());
  loopc_diagnostics *diagnostics = nullptr;
  int status;
  {
    nb::gil_scoped_release unlocked;
    status = compile(options.get(), &diagnostics);
  }
  nb::list said = takeDiagnostics(diagnostics);
  watch.rethrow();
  return nb::make_tuple(status, said);
}

static nb::tuple compileFile(const nb::bytes &file, int emit,
                             const nb::bytes &result, const nb::dict &dict) {
  std::string path = pathOf(file), output = pathOf(result);
  return compile(dict, [&](auto *options, auto **said) {
    return loopc_compile_file(path.c_str(), emit, output.c_str(), options,
                              said);
  });
}

static nb::tuple compileBytes(const nb::bytes &data, int emit,
                              const nb::bytes &result, const nb::dict &dict) {
  std::string output = pathOf(result);
  return compile(dict, [&](auto *options, auto **said) {
    return loopc_compile_bytes(data.c_str(), data.size(), emit, output.c_str(),
                               options, said);
  });
}

static nb::tuple checkCustomOps(const nb::bytes &file) {
  std::string path = pathOf(file);
  loopc_diagnostics *diagnostics = nullptr;
  int status;
  {
    nb::gil_scoped_release unlocked;
    status = loopc_check_custom_ops(path.c_str(), &diagnostics);
  }
  return nb::make_tuple(status, takeDiagnostics(diagnostics));
}

static nb::tuple createFromNetwork(const Network &network,
                                   const nb::dict &dict) {
  return makeSession(dict, [&](auto *options, auto **session, auto **said) {
    return loopc_session_create_from_network(network.get(), options, session,
                                             said);
  });
}

static nb::tuple compileNetwork(const Network &network, int emit,
                                const nb::bytes &result, const nb::dict &dict) {
  std::string output = pathOf(result);
  return compile(dict, [&](auto *options, auto **said) {
    return loopc_compile_network(network.get(), emit, output.c_str(), options,
                                 said);
  });
}

/// [(name, type, shape or None), ...]; a shape has ints, names and None. As
/// onnxruntime has it, a sequence's is empty and an optional's its element's.
static nb::list describe(const loopc_port *ports, size_t count) {
  nb::list list;
  for (size_t i = 0; i < count; ++i) {
    const loopc_type *inner = ports[i].type;
    while (inner->kind == LOOPC_OPTIONAL)
      inner = inner->element;
    const loopc_type &type = *inner;
    nb::object shape = nb::none();
    if (type.kind == LOOPC_SEQUENCE)
      shape = nb::list();
    bool isTensor = type.kind == LOOPC_TENSOR || type.kind == LOOPC_STRINGS;
    if (isTensor && type.rank >= 0) {
      nb::list dims;
      for (int32_t d = 0; d < type.rank; ++d) {
        const loopc_dim &dim = type.dims[d];
        if (dim.extent >= 0)
          dims.append(dim.extent);
        else if (dim.name && *dim.name)
          dims.append(nb::str(dim.name));
        else
          dims.append(nb::none());
      }
      shape = dims;
    }
    list.append(nb::make_tuple(ports[i].name, typeName(*ports[i].type), shape));
  }
  return list;
}

/// Errors of the bindings become loopc's exceptions.
static void translateExceptions() {
  static nb::handle invalidArgument =
      nb::object(nb::module_::import_("loopc._errors").attr("InvalidArgument"))
          .release();
  static nb::handle invalidType =
      nb::object(nb::module_::import_("loopc._errors").attr("InvalidType"))
          .release();
  nb::register_exception_translator(
      [](const std::exception_ptr &error, void *) {
        try {
          std::rethrow_exception(error);
        } catch (const ArgumentTypeError &e) {
          PyErr_SetString(invalidType.ptr(), e.what());
        } catch (const ArgumentError &e) {
          PyErr_SetString(invalidArgument.ptr(), e.what());
        } catch (const nb::cast_error &) {
          PyErr_SetString(invalidType.ptr(),
                          "an argument is of a type that is not expected");
        }
      });
}

/// What a run can be given: a token that cancels it, a profile to add to.
static void defineRunObjects(nb::module_ &m) {
  nb::class_<CancelToken>(m, "CancelToken")
      .def(nb::init<>())
      .def("cancel", &CancelToken::cancel)
      .def("reset", &CancelToken::reset)
      .def_prop_ro("requested", &CancelToken::requested);

  nb::class_<Profile>(m, "Profile")
      .def(nb::init<>())
      .def("table", &Profile::table)
      .def("write", [](const Profile &self, const nb::bytes &path) {
        return self.write(pathOf(path));
      });
}

static void defineSession(nb::module_ &m) {
  nb::class_<Session>(m, "Session")
      .def_prop_ro("name",
                   [](const Session &self) { return self.getModel().name; })
      .def_prop_ro("producer",
                   [](const Session &self) { return self.getModel().producer; })
      .def_prop_ro(
          "cpu_features",
          [](const Session &self) { return self.getModel().cpu_features; })
      .def_prop_ro(
          "abi_version",
          [](const Session &self) { return self.getModel().abi_version; })
      .def("inputs",
           [](const Session &self) {
             const loopc_model &model = self.getModel();
             return describe(model.inputs, self.numInputs());
           })
      .def("defaults",
           [](const Session &self) {
             const loopc_model &model = self.getModel();
             nb::list list;
             for (size_t i = 0; i < self.numInputs(); ++i)
               list.append(hasDefault(model, i));
             return list;
           })
      .def("outputs",
           [](const Session &self) {
             const loopc_model &model = self.getModel();
             return describe(model.declared_outputs ? model.declared_outputs
                                                    : model.outputs,
                             self.numOutputs());
           })
      .def("states",
           [](const Session &self) {
             const loopc_model &model = self.getModel();
             return describe(model.inputs + self.numInputs(), model.num_states);
           })
      .def("get_states", &Session::getStates)
      .def("set_states", &Session::setStates, "values"_a)
      .def("reset_states", &Session::resetStates)
      .def(
          "run",
          [](Session &self, nb::object names, const nb::dict &feeds,
             CancelToken *token, double timeout, int32_t numThreads,
             uint64_t memoryLimit, int32_t device, bool deviceResults,
             uintptr_t stream, bool timesDevice, const nb::dict &buffers,
             Profile *profile) {
            return self.run(names, feeds,
                            {token, profile, timeout, numThreads, memoryLimit,
                             device, deviceResults, stream, timesDevice,
                             buffers});
          },
          "output_names"_a.none(), "input_feed"_a, "token"_a.none(),
          "timeout"_a, "num_threads"_a, "memory_limit"_a, "device"_a,
          "device_results"_a, "stream"_a, "time_device"_a, "buffers"_a,
          "profile"_a.none())
      .def("maps",
           [](const Session &self) { return describeMaps(self.getModel()); })
      .def_prop_ro("is_optimized", &Session::isOptimized)
      .def_prop_ro("uses_device", &Session::usesDevice);
}

/// A hash (XXH3, 128 bits) of spans of memory, each its address and its bytes.
static nb::bytes
hashMemory(const std::vector<std::pair<uintptr_t, size_t>> &spans) {
  XXH128_canonical_t digest;
  {
    nb::gil_scoped_release release;
    XXH3_state_t state;
    XXH3_INITSTATE(&state);
    XXH3_128bits_reset(&state);
    for (auto [address, size] : spans) {
      XXH3_128bits_update(&state, &size, sizeof(size));
      XXH3_128bits_update(&state, reinterpret_cast<const void *>(address),
                          size);
    }
    XXH128_canonicalFromHash(&digest, XXH3_128bits_digest(&state));
  }
  return nb::bytes(reinterpret_cast<const char *>(digest.digest),
                   sizeof(digest.digest));
}

NB_MODULE(_loopc, m) {
  // Whoever keeps a session until the interpreter ends, as torch.compile's own
  // caches do, has not leaked it.
  nb::set_leak_warnings(false);
  translateExceptions();
  defineRunObjects(m);
  defineSession(m);
  m.def("create_from_file", &createFromFile, "path"_a, "options"_a);
  m.def("create_from_bytes", &createFromBytes, "data"_a, "options"_a);
  m.def("load_shared", &loadShared, "path"_a, "name"_a.none());
  m.def("compile_file", &compileFile, "path"_a, "emit"_a, "output"_a,
        "options"_a);
  m.def("compile_bytes", &compileBytes, "data"_a, "emit"_a, "output"_a,
        "options"_a);
  defineDeviceTensor(m);
  defineNetwork(m);
  m.def("create_from_network", &createFromNetwork, "network"_a, "options"_a);
  m.def("compile_network", &compileNetwork, "network"_a, "emit"_a, "output"_a,
        "options"_a);
  m.def("emit_from_name", [](const std::string &name) {
    return loopc_emit_from_name(name.c_str());
  });
  m.def("status_name", [](int status) { return loopc_status_name(status); });
  m.def("check_custom_ops", &checkCustomOps, "path"_a);
  m.def("hash_memory", &hashMemory, "spans"_a);
  m.def("make_dicts", &makeDicts, "keys"_a, "order"_a, "values"_a);
  m.def("set_seed", [](uint64_t seed) { loopc_seed(seed); }, "seed"_a);
  m.def("version", [] { return loopc_version(); });
}
