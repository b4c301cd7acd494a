"""Runs one notebook for dpnb and turns the result into HTML.

Orders come as lines of JSON on standard input, events go as lines of JSON to
standard output. When standard input ends, the program that gave the orders is
gone: the kernel and all that it started are ended too, whatever they are doing,
and the folder of the run is removed.
"""
import glob
import json
import os
import queue
import shutil
import signal
import sys
import threading
import time

# Libraries that print must not get between the events.
events = os.fdopen(os.dup(1), "w", buffering=1, encoding="utf-8")
os.dup2(2, 1)

SESSION = os.environ["DPNB_SESSION"]
TAG = ("DPNB_SESSION=" + SESSION).encode()
GRACE_SECONDS = 5
STARTS = 3  # of a kernel, until one answers


def send(event, **fields):
    events.write(json.dumps({"event": event, **fields}) + "\n")


def tagged_processes():
    """Processes of this run, known by their environment; only where /proc tells."""
    if not os.path.isdir("/proc/self"):
        return
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open("/proc/%s/environ" % name, "rb") as f:
                if TAG in f.read().split(b"\0"):
                    yield int(name)
        except OSError:
            pass  # ended meanwhile, or another user's


def end_everything():
    for _ in range(20):  # again, for those that were being started
        found = list(tagged_processes())
        if not found:
            break
        for pid in found:
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        time.sleep(0.02)
    shutil.rmtree(SESSION, ignore_errors=True)
    os._exit(1)


orders = queue.Queue()
executing = threading.Event()


def read_orders():
    for line in sys.stdin:
        orders.put(json.loads(line))
    orders.put(None)
    # The main thread may be deep in a notebook: nbclient takes the signal as a
    # request to end the kernel well. If it does not, insist.
    if executing.is_set():
        os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE_SECONDS)
    end_everything()


def execute(order):
    import nbformat
    from nbclient import NotebookClient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError

    nb = nbformat.read(order["notebook"], as_version=4)
    at = {"cell": -1, "program": ""}

    def start(cell, cell_index):
        at["cell"] = cell_index
        send("cell", index=cell_index)

    def error(cell, cell_index, execute_reply):
        # The kernel deletes it when it ends, and only it tells which lines failed.
        for path in glob.glob(os.path.join(os.environ["TMPDIR"], "gonb_*", "main.go")):
            with open(path, encoding="utf-8", errors="replace") as f:
                at["program"] = f.read()

    def client():
        return NotebookClient(
            nb,
            kernel_name="gonb",
            timeout=order["timeout"] or None,
            startup_timeout=120,
            iopub_timeout=60,
            record_timing=False,
            store_widget_state=False,
            on_cell_execute=start,
            on_cell_error=error,
            resources={"metadata": {"path": order["cwd"]}},
        )

    def run():
        # Jupyter looks for free ports and leaves it to the kernel to take them, a moment later:
        # another kernel that starts at the same time may have them by then.
        for _ in range(STARTS - 1):
            try:
                return client().execute()
            except RuntimeError:
                if at["cell"] >= 0:
                    raise
        return client().execute()

    failure = None
    executing.set()
    try:
        run()
    except CellExecutionError as e:
        failure = {"kind": "error", "message": getattr(e, "evalue", str(e))}
    except CellTimeoutError:
        failure = {"kind": "timeout", "message": "no answer within %g s" % order["timeout"]}
    except DeadKernelError:
        failure = {"kind": "dead", "message": "the kernel ended in the middle of the cell"}
    finally:
        executing.clear()
    if failure:
        failure.update(at)
    nbformat.write(nb, order["out"])
    send("executed", failure=failure)


def html(order):
    import nbformat
    from nbconvert import HTMLExporter

    # The body only: the page around it is ours.
    exporter = HTMLExporter(template_name="lab", template_file="base.html.j2")
    if exporter.has_trait("embed_images"):
        exporter.embed_images = True
    nb = nbformat.read(order["notebook"], as_version=4)
    resources = {"metadata": {"name": order["title"], "path": order["cwd"]}}
    body, _ = exporter.from_notebook_node(nb, resources)
    with open(order["out"], "w", encoding="utf-8") as f:
        f.write(body)
    send("html")


def markdown(order):
    from nbconvert.filters import markdown2html

    with open(order["in"], encoding="utf-8") as f:
        texts = json.load(f)
    with open(order["out"], "w", encoding="utf-8") as f:
        json.dump([markdown2html(text) for text in texts], f)
    send("markdown")


def main():
    threading.Thread(target=read_orders, daemon=True).start()
    while True:
        order = orders.get()
        if order is None:
            break
        try:
            {"execute": execute, "html": html, "markdown": markdown}[order["do"]](order)
        except Exception as e:  # told to the other side, which decides
            send("failed", message="%s: %s" % (type(e).__name__, e))


try:
    main()
finally:
    end_everything()
