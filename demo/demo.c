// SPDX-License-Identifier: Apache-2.0
// A program to look at: a few threads that each take documents through three stages.
//
//   worker → handle_document → parse_document     50 % of the time
//                            → compress_document  30 %
//                            → sign_document      20 %
//
// The shares hold by construction: a stage works until it has used its slice of its thread's CPU
// time. So the flame graph can be checked against what the program prints at its end.
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define RUN_SECONDS 5.0
#define ROUND_SECONDS 0.02
#define DOCUMENT_SIZE 16384
#define MAX_THREADS 3
#define WORD_SLOTS 4096
#define MATCH_SLOTS 4096

struct document {
	char text[DOCUMENT_SIZE];
	unsigned word_counts[WORD_SLOTS];
	uint16_t last_seen[MATCH_SLOTS]; // where three bytes with this hash were last
	unsigned char packed[DOCUMENT_SIZE + DOCUMENT_SIZE / 8 + 16];
	size_t packed_size;
	uint32_t signature[4];
};

struct stage {
	const char *name;
	double share;
	void (*run)(struct document *doc);
};

// Kept apart by the compiler, so that they can be seen apart.
#define seen __attribute__((noinline, noclone))

static double seconds(clockid_t clock)
{
	struct timespec ts;
	clock_gettime(clock, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static void write_document(struct document *doc, unsigned seed)
{
	static const char *const words[] = {
		"light", "the",    "wick",  "and", "read",    "by",
		"it",    "slowly", "while", "wax", "remains", "tonight"
	};
	size_t len = 0;
	while (len + 16 < DOCUMENT_SIZE) {
		const char *word = words[(unsigned)rand_r(&seed) % 12];
		size_t size = strlen(word);
		memcpy(doc->text + len, word, size);
		doc->text[len + size] = rand_r(&seed) % 9 ? ' ' : '\n';
		len += size + 1;
	}
	memset(doc->text + len, '.', DOCUMENT_SIZE - len);
}

seen static size_t next_word(const char *text, size_t at, size_t *ret_end)
{
	while (at < DOCUMENT_SIZE && (unsigned char)(text[at] - 'a') > 25)
		at++;
	size_t end = at;
	while (end < DOCUMENT_SIZE && (unsigned char)(text[end] - 'a') <= 25)
		end++;
	*ret_end = end;
	return at;
}

seen static void count_word(struct document *doc, const char *word, size_t size)
{
	uint32_t hash = 2166136261u;
	for (size_t i = 0; i < size; i++)
		hash = (hash ^ (unsigned char)word[i]) * 16777619u;
	doc->word_counts[hash % WORD_SLOTS]++;
}

seen static void parse_document(struct document *doc)
{
	size_t end = 0;
	for (size_t at = 0; (at = next_word(doc->text, at, &end)) < DOCUMENT_SIZE; at = end)
		count_word(doc, doc->text + at, end - at);
}

// How many bytes at `at` repeat what was at `before`.
seen static size_t match_length(const char *text, size_t before, size_t at)
{
	size_t size = 0;
	while (size < 255 && at + size < DOCUMENT_SIZE && text[before + size] == text[at + size])
		size++;
	return size;
}

// Returns how many bytes of text it took.
seen static size_t emit(struct document *doc, size_t before, size_t at, size_t size)
{
	if (size < 4) {
		doc->packed[doc->packed_size++] = (unsigned char)doc->text[at];
		return 1;
	}
	doc->packed[doc->packed_size++] = (unsigned char)(0x80 | size >> 1);
	doc->packed[doc->packed_size++] = (unsigned char)(at - before);
	doc->packed[doc->packed_size++] = (unsigned char)((at - before) >> 8);
	return size;
}

seen static void compress_document(struct document *doc)
{
	memset(doc->last_seen, 0, sizeof(doc->last_seen));
	doc->packed_size = 0;
	for (size_t at = 1; at + 3 < DOCUMENT_SIZE;) {
		uint32_t three = 0;
		memcpy(&three, doc->text + at, 3);
		uint16_t *slot = &doc->last_seen[three * 2654435761u >> 20];
		size_t before = *slot;
		*slot = (uint16_t)at;
		at += emit(doc, before, at, match_length(doc->text, before, at));
	}
}

seen static void mix_block(uint32_t state[4], const unsigned char *block)
{
	for (int i = 0; i < 64; i++) {
		uint32_t t = state[0] + ((state[1] & state[2]) | (~state[1] & state[3])) + block[i];
		state[0] = state[3];
		state[3] = state[2];
		state[2] = state[1];
		state[1] += t << (i % 7 + 5) | t >> (27 - i % 7);
	}
}

seen static void sign_document(struct document *doc)
{
	for (size_t at = 0; at + 64 <= DOCUMENT_SIZE; at += 64)
		mix_block(doc->signature, (const unsigned char *)doc->text + at);
}

static const struct stage stages[] = {
	{ "parse_document", 0.5, parse_document },
	{ "compress_document", 0.3, compress_document },
	{ "sign_document", 0.2, sign_document },
};

seen static void handle_document(struct document *doc)
{
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++) {
		double end = seconds(CLOCK_THREAD_CPUTIME_ID) + stages[i].share * ROUND_SECONDS;
		do {
			for (int times = 0; times < 4; times++)
				stages[i].run(doc);
		} while (seconds(CLOCK_THREAD_CPUTIME_ID) < end);
	}
}

static void *worker(void *arg)
{
	struct document *doc = arg;
	double end = seconds(CLOCK_MONOTONIC) + RUN_SECONDS;
	while (seconds(CLOCK_MONOTONIC) < end)
		handle_document(doc);
	return NULL;
}

int main(void)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int count = cpus < 1 ? 1 : cpus > MAX_THREADS ? MAX_THREADS : (int)cpus;
	struct document *docs = calloc((size_t)count, sizeof(*docs));
	pthread_t threads[MAX_THREADS];
	if (!docs)
		return 1;
	for (int i = 0; i < count; i++) {
		write_document(&docs[i], (unsigned)i + 1);
		if (pthread_create(&threads[i], NULL, worker, &docs[i]) != 0)
			return 1;
	}
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	printf("demo: %d threads; by construction", count);
	for (size_t i = 0; i < sizeof(stages) / sizeof(stages[0]); i++)
		printf("%s %s %.0f %%", i ? "," : "", stages[i].name, stages[i].share * 100);
	printf("\n");
	free(docs);
	return 0;
}
