// SPDX-License-Identifier: GPL-2.0

#include "sample.h"

/* The reason to skip a test without etch-sample. */
const char *no_sample(void)
{
	return have_modules() ? "no etch-sample.ko: CONFIG_SAMPLE_ETCH=m, or set ETCH_SAMPLE_KO"
			      : NO_MODULES;
}

const char *sample_path(void)
{
	return module_path("ETCH_SAMPLE_KO", "samples/etch", "etch-sample");
}

int sample_load(void)
{
	return module_load(sample_path(), "");
}

int sample_unload(void)
{
	return module_unload(SAMPLE);
}

const char *ring_sample_path(void)
{
	return module_path("ETCH_RING_SAMPLE_KO", "samples/etch", "etch-ring-sample");
}

int ring_sample_load(const char *parameters)
{
	return module_load(ring_sample_path(), parameters);
}

int ring_sample_unload(void)
{
	return module_unload(RING_SAMPLE);
}
