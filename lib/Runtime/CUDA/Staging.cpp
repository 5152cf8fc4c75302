//===- Staging.cpp - Copies by way of pinned memory -----------------------===//
//
// Part of the loopc project, under the Apache License v2.0 with LLVM
// Exceptions. See LICENSE for license information.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Memory that the driver does not know it copies by way of its own, and waits
// for what was begun before: the run could not be cancelled then. So each lane
// has a few pieces of pinned memory that copies go through in turn. A piece is
// used again when the event behind its last copy has come.
//
//===----------------------------------------------------------------------===//

#include "Gpu.h"

#include <string.h>

using namespace loopc::rt;
using namespace loopc::rt::cuda;

static void freeStaging(Staging &staging) {
  const Driver &driver = getDriver();
  for (StagingPiece &piece : staging.pieces)
    if (piece.event)
      driver.cuEventDestroy_v2(piece.event);
  if (staging.pieces[0].data)
    driver.cuMemFreeHost(staging.pieces[0].data);
  staging = {};
}

bool loopc::rt::cuda::prepareStaging(Gpu &gpu) {
  Staging &staging = gpu.lane->staging;
  if (staging.pieces[0].data)
    return true;
  const Driver &driver = getDriver();
  void *memory = nullptr;
  if (driver.cuMemHostAlloc(&memory, kStagingPieces * kStagingBytes,
                            kHostAllocPortable) != CUDA_SUCCESS)
    return false;
  for (size_t k = 0; k < kStagingPieces; ++k)
    staging.pieces[k].data = static_cast<char *>(memory) + k * kStagingBytes;
  for (StagingPiece &piece : staging.pieces)
    if (driver.cuEventCreate(&piece.event, kEventDisableTiming) !=
        CUDA_SUCCESS) {
      piece.event = nullptr;
      freeStaging(staging);
      return false;
    }
  return true;
}

/// Waits until nobody uses the piece any more.
static int32_t waitForPiece(loopc_run &run, StagingPiece &piece) {
  if (!piece.isPending)
    return LOOPC_OK;
  if (int32_t status = waitForEvent(run, piece.event))
    return status;
  piece.isPending = false;
  return LOOPC_OK;
}

/// The piece whose turn it is, which nobody uses; null after recording an
/// error.
static StagingPiece *takePiece(loopc_run &run) {
  Staging &staging = run.gpu->lane->staging;
  StagingPiece &piece = staging.pieces[staging.next];
  staging.next = (staging.next + 1) % kStagingPieces;
  return waitForPiece(run, piece) ? nullptr : &piece;
}

/// Begins a copy from or to the piece.
static CUresult beginCopy(Gpu &gpu, StagingPiece &piece, CUdeviceptr dst,
                          CUdeviceptr src, size_t bytes) {
  const Driver &driver = getDriver();
  CUresult result = driver.cuMemcpyAsync(dst, src, bytes, gpu.stream);
  if (result != CUDA_SUCCESS)
    return result;
  gpu.isBusy = true;
  result = driver.cuEventRecord(piece.event, gpu.stream);
  // Nobody knows when it is done but who waits for all.
  piece.isPending = result == CUDA_SUCCESS;
  return result;
}

static CUdeviceptr toAddress(const void *pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

static int32_t recordStaging(loopc_run &run, CUresult result) {
  // Pieces may be in use whose events were not recorded.
  if (run.gpu->isBusy)
    (void)waitForStream(run);
  return recordResult(run, result, "copying by way of pinned memory");
}

int32_t loopc::rt::cuda::stageToDevice(loopc_run &run, void *dst,
                                       const void *src, size_t bytes) {
  for (size_t at = 0; at < bytes; at += kStagingBytes) {
    size_t size = bytes - at < kStagingBytes ? bytes - at : kStagingBytes;
    StagingPiece *piece = takePiece(run);
    if (!piece)
      return getStatus(run);
    memcpy(piece->data, static_cast<const char *>(src) + at, size);
    CUresult result = beginCopy(*run.gpu, *piece, toAddress(dst) + at,
                                toAddress(piece->data), size);
    if (result != CUDA_SUCCESS)
      return recordStaging(run, result);
  }
  return LOOPC_OK;
}

int32_t loopc::rt::cuda::stageToHost(loopc_run &run, void *dst, const void *src,
                                     size_t bytes) {
  // The last kStagingPieces copies are under way.
  struct Part {
    StagingPiece *piece;
    size_t at, size;
  } parts[kStagingPieces] = {};
  size_t number = 0;
  auto finish = [&](Part &part) -> int32_t {
    if (!part.piece)
      return LOOPC_OK;
    if (int32_t status = waitForPiece(run, *part.piece))
      return status;
    memcpy(static_cast<char *>(dst) + part.at, part.piece->data, part.size);
    part.piece = nullptr;
    return LOOPC_OK;
  };
  for (size_t at = 0; at < bytes; at += kStagingBytes, ++number) {
    Part &part = parts[number % kStagingPieces];
    if (int32_t status = finish(part))
      return status;
    part.piece = takePiece(run);
    if (!part.piece)
      return getStatus(run);
    part.at = at;
    part.size = bytes - at < kStagingBytes ? bytes - at : kStagingBytes;
    CUresult result =
        beginCopy(*run.gpu, *part.piece, toAddress(part.piece->data),
                  toAddress(src) + at, part.size);
    if (result != CUDA_SUCCESS)
      return recordStaging(run, result);
  }
  for (size_t k = 0; k < kStagingPieces; ++k)
    if (int32_t status = finish(parts[(number + k) % kStagingPieces]))
      return status;
  return LOOPC_OK;
}
