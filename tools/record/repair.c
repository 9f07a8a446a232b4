// SPDX-License-Identifier: GPL-2.0
/*
 * A trace whose end was never written: the recorder was killed, or the machine went down.
 *
 * Readers of traces refuse a file that ends within a packet. This cuts the incomplete packet
 * off. If only padding is missing, it adds the padding instead, and no record is lost.
 */
#include "record.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* A header at @at, of a file of @size bytes, whose content is in the file. */
static bool repair_packet(int fd, unsigned long long at, unsigned long long size,
			  struct etch_packet_header *header)
{
	return pread(fd, header, sizeof(*header), at) == sizeof(*header) &&
	       pump_header_ok(header) && header->content_size / 8 <= size - at;
}

static int repair_file(int dir, const char *name)
{
	int fd = openat(dir, name, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct etch_packet_header header;
	unsigned long long at = 0, size;
	struct stat st;
	int ret = 0;

	if (fd < 0 || fstat(fd, &st)) {
		fail("%s: %m", name);
		if (fd >= 0)
			close(fd);
		return -1;
	}
	if (!S_ISREG(st.st_mode)) {
		close(fd);
		return fail("%s is no file of a trace", name);
	}
	size = st.st_size;
	while (at < size && repair_packet(fd, at, size, &header))
		at += header.packet_size / 8;
	if (at != size && ftruncate(fd, at))
		ret = fail("%s cannot be cut: %m", name);
	else if (at < size)
		say("%s: %llu bytes behind the last whole packet are cut off", name, size - at);
	else if (at > size)
		say("%s: %llu bytes of padding are added", name, at - size);
	if (close(fd))
		ret = fail("%s: %m", name);
	return ret;
}

/* cpuN or userN, and nothing behind it: cpu0.gz is left alone. */
static bool repair_is_stream(const char *name)
{
	size_t kind = strncmp(name, "cpu", 3) ? strncmp(name, "user", 4) ? 0 : 4 : 3;
	size_t digits = strspn(name + kind, "0123456789");

	return kind && digits && !name[kind + digits];
}

int repair(const char *folder)
{
	DIR *dir = opendir(folder);
	struct dirent *entry;
	int ret = 0;

	if (!dir)
		return fail("%s: %m", folder);
	if (faccessat(dirfd(dir), "metadata", R_OK, 0)) {
		ret = fail("%s has no metadata: it is no trace", folder);
	} else {
		while ((entry = readdir(dir)))
			if (repair_is_stream(entry->d_name) &&
			    repair_file(dirfd(dir), entry->d_name))
				ret = -1;
	}
	closedir(dir);
	return ret;
}
