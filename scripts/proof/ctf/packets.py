# SPDX-License-Identifier: GPL-2.0
"""Packets as include-trace/uapi/linux/etch_packet.h has them, by nothing but that.

Neither babeltrace2 nor the metadata is asked, so that both can be checked.
"""

import struct
from collections import namedtuple

MAGIC = 0xC1FC1FC1
_HEADER = struct.Struct("<I16sIQIIII16sIiIIQQQQQQ")
HEADER_BYTES = _HEADER.size
TIME_BITS, ID_BITS = 48, 14
TIME_MASK, ID_MASK = (1 << TIME_BITS) - 1, (1 << ID_BITS) - 1
_HEAD = struct.Struct("<Qi")
HEAD_BYTES = _HEAD.size

Header = namedtuple("Header", "magic uuid stream_id overwritten lost_full "
                    "lost_throttled lost_nested lost_too_big comm cpu pid generation records "
                    "begin end content size seq discarded")
# at, end: the packet's bytes in its file; content: where the records end.
Packet = namedtuple("Packet", "header at content end")
# at: in the file. time: in full.
Record = namedtuple("Record", "time id context pid at end")


class Broken(Exception):
    """A mistake in a packet, as a sentence."""


def header_at(data, at):
    """The packet's header there; None if it is cut off or not one."""
    if len(data) - at < HEADER_BYTES:
        return None
    header = Header._make(_HEADER.unpack_from(data, at))
    return header if header.magic == MAGIC else None


def pack(header):
    """The bytes of a header."""
    return _HEADER.pack(*header)


def packets(data):
    """The whole packets at the front of a file, and where they end."""
    found, at = [], 0
    while True:
        header = header_at(data, at)
        if not header or header.size % 8 or header.content > header.size:
            return found, at
        end = at + header.size // 8
        if header.content < HEADER_BYTES * 8 or end > len(data):
            return found, at
        found.append(Packet(header, at, at + header.content // 8, end))
        at = end


def whole(data):
    """What of a file a reader of the format can open: its whole packets.

    babeltrace2 refuses a trace of which one file ends inside a packet. If only
    the padding of the last packet is missing, nothing is lost, and it is made up.
    """
    _, at = packets(data)
    header = header_at(data, at)
    if header and (HEADER_BYTES * 8 <= header.content <= header.size
                   and header.content // 8 <= len(data) - at):
        padding = header.size // 8 - (len(data) - at)
        if padding > 0:
            return bytes(data) + bytes(padding)
    return bytes(data[:at])


def check_order(found):
    """Sentences on what one packet says that those before it do not allow."""
    wrong = []
    for before, after in zip(found, found[1:]):
        one, two = before.header, after.header
        where = f"CPU {two.cpu}, packet {two.seq}"
        if two.begin < one.end:
            wrong.append(f"{where}: begins before the end of packet {one.seq}")
        if two.seq <= one.seq:
            wrong.append(f"{where}: comes after packet {one.seq}")
        if two.discarded < one.discarded:
            wrong.append(f"{where}: events_discarded goes back")
        if two.cpu != one.cpu or two.uuid != one.uuid:
            wrong.append(f"{where}: another CPU or trace than packet {one.seq}")
    for packet in found:
        head = packet.header
        where = f"CPU {head.cpu}, packet {head.seq}"
        if head.end < head.begin:
            wrong.append(f"{where}: ends before it begins")
        lost = (head.lost_full + head.lost_throttled + head.lost_nested
                + head.lost_too_big)
        least = head.overwritten + max(head.lost_full, head.lost_throttled)
        if ((head.discarded - head.overwritten - lost) % (1 << 32)
                or head.discarded < least):
            wrong.append(f"{where}: {head.discarded} discarded is not the sum of"
                         " its causes")
    return wrong


def records(data, packet, formats, more=0):
    """The records of a packet; formats: {id: Format}, for their lengths.

    more: bytes of contexts that each has between its head and its payload.
    """
    wrap, low = packet.header.begin & ~TIME_MASK, packet.header.begin & TIME_MASK
    at, found = packet.at + HEADER_BYTES, []
    while at < packet.content:
        if packet.content - at < HEAD_BYTES:
            raise Broken(f"{packet.content - at} bytes are left at {at:#x}")
        word, pid = _HEAD.unpack_from(data, at)
        time, number = word & TIME_MASK, word >> TIME_BITS & ID_MASK
        if number not in formats:
            raise Broken(f"no event has the id {number}, at {at:#x}")
        if time < low:
            wrap += 1 << TIME_BITS
        low = time
        end = at + more
        end += formats[number].length(data, end, packet.content)
        found.append(Record(wrap | time, number, word >> 62, pid, at, end))
        at = end + (-end & 3)
    return found
