// SPDX-License-Identifier: Apache-2.0
#include "object/minidebug.h"

#include <lzma.h>

#include "base/vec.h"

// xz -9 needs 65 MiB to unpack.
#define MEMORY_MAX (72u << 20)
#define UNPACKED_MAX (64u << 20)
#define STEP (256u << 10)

static bool unpack(lzma_stream *stream, struct buf *ret)
{
	lzma_ret status = LZMA_OK;
	while (status == LZMA_OK && ret->len < UNPACKED_MAX) {
		if (!vec_grow(&ret->at, &ret->cap, ret->len, STEP, 1))
			return false;
		stream->next_out = (uint8_t *)ret->at + ret->len;
		stream->avail_out = ret->cap - ret->len;
		status = lzma_code(stream, LZMA_FINISH);
		ret->len = ret->cap - stream->avail_out;
	}
	return status == LZMA_STREAM_END;
}

bool minidebug_unpack(struct str packed, struct buf *ret)
{
	lzma_stream stream = LZMA_STREAM_INIT;
	if (lzma_stream_decoder(&stream, MEMORY_MAX, 0) != LZMA_OK)
		return false;
	stream.next_in = (const uint8_t *)packed.ptr;
	stream.avail_in = packed.len;
	auto_fini(buf) content = { 0 };
	bool ok = unpack(&stream, &content);
	lzma_end(&stream);
	if (!ok)
		return false;
	*ret = content;
	content = (struct buf){ 0 };
	return true;
}
