# SPDX-License-Identifier: MIT
"""What must not happen to the Python package: sources that lie, wrong types, and several threads at once."""

import array
import gc
import gzip
import io
import os
import sys
import threading
import zipfile

import perfdata

RECORDS = 103  # of hot.data


def content_of(name):
    with open(name, "rb") as file:
        return file.read()


class Source:
    """Gives bytes as change makes them of a piece and the size that was asked for."""

    def __init__(self, name, change):
        self._bytes, self._change = io.BytesIO(content_of(name)), change

    def read(self, size):
        return self._change(self._bytes.read(size), size)


def raised_by(call, *arguments, **named):
    try:
        call(*arguments, **named)
    except BaseException as failure:
        return failure
    return None


def is_refused(failure):
    return isinstance(failure, perfdata.Error) and failure.code == "argument"


def count_of(source):
    with perfdata.open_stream(source) as stream:
        return sum(1 for _ in stream)


# ---- sources ----

def check_pieces(require):
    for kind in (bytes, bytearray, memoryview, lambda piece: array.array("B", piece)):
        require(count_of(Source("hot.data", lambda piece, _: kind(piece))) == RECORDS, "bytes of another type")
    for change, kind in ((lambda piece, size: piece + bytes(size + 1), ValueError), (lambda piece, _: "text", TypeError),
                         (lambda piece, _: None, BlockingIOError), (lambda piece, _: 5, TypeError)):
        failure = raised_by(count_of, Source("hot.data", change))
        require(isinstance(failure, kind), "a wrong result of read()", kind, repr(failure))

    def fail(piece, size):
        raise KeyError("\ud800 is not a character")

    require(isinstance(raised_by(count_of, Source("hot.data", fail)), KeyError), "a message that has no bytes")


class Plain(io.BufferedIOBase):
    """Has the read1() of its base, which does not work."""

    def __init__(self):
        self._bytes = io.BytesIO(content_of("hot.data"))

    def read(self, size=-1):
        return self._bytes.read(size)


def check_objects(require, scratch):
    """Objects are read from where they are, and through what they do with the bytes of their descriptor."""
    path = os.path.join(scratch, "behind.data")
    with open(path, "wb") as file:
        file.write(b"before" + content_of("hot.data"))
    for buffering in (-1, 0):
        with open(path, "rb", buffering=buffering) as file:
            require(file.read(6) == b"before" and count_of(file) == RECORDS, "an object that was read before", buffering)
            file.seek(6)
            require(count_of(file) == RECORDS, "an object that was positioned", buffering)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.write("hot.data")
    with zipfile.ZipFile(path) as archive, archive.open("hot.data") as member:
        require(count_of(member) == RECORDS, "a member of an archive")
    with gzip.open(path, "wb") as file:
        file.write(content_of("hot-pipe.data"))
    with gzip.open(path) as file:
        require(count_of(file) == count_of("hot-pipe.data"), "gzip")
    require(count_of(Plain()) == RECORDS, "an object without read1()")
    require(isinstance(raised_by(count_of, io.StringIO("text")), TypeError), "a text")


def check_live_object(require):
    """Records of a pipe come from a file object, too, before there are as many bytes as were asked for."""
    content = content_of("hot-pipe.data")
    read_end, write_end = os.pipe()
    os.write(write_end, content[:len(content) // 2])
    end = threading.Timer(20, os.close, (write_end,))  # ends what waits for more
    end.start()
    with open(read_end, "rb") as file, perfdata.open_stream(file) as stream:
        records = iter(stream)
        require(len([next(records) for _ in range(10)]) == 10 and end.is_alive(), "a pipe was read up to its end")
        os.write(write_end, content[len(content) // 2:])
        end.cancel()
        os.close(write_end)
        require(10 + sum(1 for _ in records) == count_of("hot-pipe.data"), "the rest of a pipe")


# ---- types ----

def check_types(require, scratch):
    path = os.path.join(scratch, "types.data")
    with perfdata.open_stream("hot.data") as stream, stream.writer(path) as writer:
        for type, fields in (("COMM", {"sample_id": 3}), ("COMM", {1: 2}), ("COMM", 5), ("COMM", {"comm": 0}), ("COMM", None),
                             ("THREAD_MAP", {"entries": [5]}), ("THREAD_MAP", {"entries": 5}), ("THREAD_MAP", {"sample_id": {}}),
                             ("SAMPLE", {"sample_id": {"pid": 1}}), ("COMM", {"sample_id": {"sample_id": {"pid": 1}}})):
            failure = raised_by(writer.add, type, fields)
            require(is_refused(failure), type, fields, repr(failure))
        for misc in (-1, 1 << 16, 1.5, "x", None):
            failure = raised_by(writer.add, "COMM", {"comm": "x"}, misc=misc)
            require(is_refused(failure), "misc", misc, repr(failure))
        for record in stream:
            if record.type == "COMM":
                for name, value in (("sample_id", 5), ("misc", 5), (7, 5)):
                    require(is_refused(raised_by(record.__setitem__, name, value)), name, value)
                for misc in (-1, 70000, "x"):
                    require(is_refused(raised_by(setattr, record, "misc", misc)), "misc", misc)
                record.misc = 0xffff
                writer.write(record)
    with perfdata.open_stream(path) as stream:
        require({record.misc for record in stream} == {0xffff}, "misc of 16 bits")
    check_features(require, path)


class Broken:
    """A value that fails where it is looked at."""

    def __len__(self):
        raise KeyError("\ud800")


def check_features(require, path):
    with perfdata.open_stream("hot.data") as stream:
        for fields in (5, {"value": 5}, {1: 2}, {"sample_id": {"pid": 1}}):
            failure = raised_by(stream.writer, path + ".not", features={"HOSTNAME": fields})
            require(is_refused(failure), "a feature", fields, repr(failure))
        failure = raised_by(stream.writer, path + ".not", features={"CMDLINE": {"arguments": Broken()}})
        require(isinstance(failure, KeyError), "an exception of a value was lost", repr(failure))
    require(not os.path.exists(path + ".not"), "a file of a writer that was not made")


def check_construction(require, scratch):
    """What is not made has nothing to say when it is released."""
    recording = perfdata.open("hot.data", symbols=False)
    with perfdata.open_stream("hot.data") as stream:
        for call, arguments, named in ((stream.writer, [os.path.join(scratch, "x")], {"mode": "none"}), (perfdata.Writer, [], {}),
                                       (stream.writer, [os.path.join(scratch, "x")], {"nothing": 1}), (stream.writer, [5.5], {}),
                                       (recording.flame, ["none"], {}), (perfdata.Flame, [], {}), (perfdata.Stream, [], {}), (perfdata.open_stream, ["hot.data", "none"], {})):
            require(raised_by(call, *arguments, **named) is not None, call, arguments, named)
            gc.collect()


# ---- threads ----

def run_all(functions):
    threads = [threading.Thread(target=function, daemon=True) for function in functions]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return not any(thread.is_alive() for thread in threads)


def check_shared_stream(require):
    """Each of several threads gets others of the records."""
    failures, found, gone = [], [], []

    def read():
        try:
            for record in stream:
                found.append(record.offset)
                try:
                    gone.append((record.type == "COMM") != ("comm" in record.fields))
                    require(len(record.bytes) >= 8 and (record.event or record.comm or True), "a record")
                except perfdata.Error:  # another thread has gone on
                    pass
        except BaseException as failure:
            failures.append(failure)

    def opened():
        return perfdata.open_stream("hot.data", where="sample.tid != 4403")

    expected = [record.offset for record in opened()]
    for _ in range(20):
        del found[:]
        stream = opened()
        require(run_all([read] * 4), "threads wait for each other")
        stream.close()
        require(sorted(found) == expected, "records of threads", len(found), len(expected))
    require(not failures and not any(gone), "threads of one stream", failures[:3])


def check_close_inside(require, scratch):
    """What is called for bytes cannot close the stream that waits for them, nor its writers."""
    opened, seen = [], []

    def change(piece, size):
        if opened:
            seen.extend(raised_by(call) for call in (opened[0].close, lambda: next(iter(opened[0])), writer.finish, writer.abort))
        return piece[:64]

    class Slow(Source):
        def read(self, size):
            return super().read(min(size, 64))

    stream = perfdata.open_stream(Slow("hot-pipe.data", change))
    writer = stream.writer(os.path.join(scratch, "inside.data"))
    opened.append(stream)
    count = sum(1 for _ in opened[0])
    require(seen and all(is_refused(failure) for failure in seen) and count == count_of("hot-pipe.data"), "close() by read()", count, seen[:2])
    opened[0].close()


def check_close_outside(require):
    """Another thread closes a stream that waits for bytes, after it got them."""
    waits, goes_on, closed = threading.Event(), threading.Event(), threading.Event()

    class Slow(Source):
        def read(self, size):
            if stream:
                waits.set()
                goes_on.wait(20)
            return super().read(min(size, 64))

    def close():
        stream.close()
        closed.set()

    stream = None
    stream = perfdata.open_stream(Slow("hot-pipe.data", lambda piece, _: piece))
    reader = threading.Thread(target=lambda: sum(1 for _ in stream), daemon=True)
    reader.start()
    waits.wait(20)
    closer = threading.Thread(target=close, daemon=True)
    closer.start()
    require(not closed.wait(0.2), "a stream was closed while it was read")
    goes_on.set()
    reader.join(60)
    closer.join(60)
    require(closed.is_set() and not reader.is_alive(), "close() waits for ever")


def check_shared_writer(require, scratch):
    """Threads that write while another closes get an error, and nothing is left."""
    path, failures = os.path.join(scratch, "shared.data"), []

    def write():
        try:
            while True:
                writer.add("COMM", {"comm": "x"})
        except perfdata.Error as error:
            failures.append(error.code)

    for _ in range(10):
        stream = perfdata.open_stream("hot.data")
        writer = stream.writer(path)
        require(run_all([write, write, stream.close]), "a writer waits")
    require(failures == ["argument"] * 20 and not os.path.exists(path), failures)


def check_shared_flame(require):
    """The tree is made when it is asked for, by one of the threads."""
    recording = perfdata.open("hot.data", symbols=False)
    for _ in range(20):
        totals, flame = [], recording.flame()
        ask = (lambda: totals.append(flame.tree.total), lambda: totals.append(len(flame.svg()) and flame.tree.total),
               lambda: totals.append(flame.summary and flame.tree.total))
        require(run_all(ask * 2) and len(totals) == 6 and len(set(totals)) == 1, "a flame of threads", totals)
    held, asked = recording.flame(), threading.Event()
    with recording._handle.lock:  # as a thread does that reads a table
        waits = threading.Thread(target=lambda: (held.tree, held.svg(), held.summary, asked.set()), daemon=True)
        waits.start()
        require(not asked.wait(0.2), "a flame is used while its recording is")
    waits.join(60)
    require(asked.is_set(), "a flame waits for ever")


def check_streams_of_recordings(require, scratch):
    """They have all records, and are opened as their recording was."""
    require(sum(1 for _ in perfdata.open("hot.data", symbols=False).select(comm="hot").stream()) == RECORDS, "a stream of a selection")
    path, content = os.path.join(scratch, "header.data"), bytearray(content_of("hot.data"))
    content[40:48] = bytes(8)  # where the records begin
    with open(path, "wb") as file:
        file.write(content)
    for recover in (False, True):
        with perfdata.open(path, recover=recover, symbols=False).stream() as stream:
            require((sum(1 for _ in stream) == RECORDS) == recover, "a stream of a damaged recording", recover)


def run(require, scratch):
    """All of it; what Python can only print is wrong, too."""
    sys.unraisablehook = lambda what: require(False, "an exception where none can be raised:", repr(what.exc_value), what.object)
    check_pieces(require)
    check_objects(require, scratch)
    check_live_object(require)
    check_types(require, scratch)
    check_construction(require, scratch)
    check_shared_stream(require)
    check_close_inside(require, scratch)
    check_close_outside(require)
    check_shared_writer(require, scratch)
    check_shared_flame(require)
    check_streams_of_recordings(require, scratch)
    gc.collect()
    sys.unraisablehook = sys.__unraisablehook__
