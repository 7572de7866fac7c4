/** Tells how far a long work is: a bar on a terminal, a line every few seconds elsewhere. */
export interface Progress {
  report(done: number): void;
  end(done: number): void;
}

const BAR_WIDTH = 30;
const REDRAW_MS = 100;
const LINE_MS = 5000;

/** Starts the clock for `total` things, called `noun`. */
export function createProgress(total: number, noun: string, stream: NodeJS.WriteStream = process.stdout): Progress {
  const startedAt = performance.now();
  let saidAt = startedAt;

  const describe = (done: number): string => {
    const seconds = (performance.now() - startedAt) / 1000;
    const rate = Math.round(done / seconds);
    const left = rate > 0 ? Math.ceil((total - done) / rate) : 0;
    return `${format(done)} of ${format(total)} ${noun}, ${format(rate)}/s, ${left} s left`;
  };
  const bar = (done: number): string => {
    const filled = Math.round((done / total) * BAR_WIDTH);
    return `[${'#'.repeat(filled)}${' '.repeat(BAR_WIDTH - filled)}]`;
  };

  return {
    report(done) {
      const now = performance.now();
      if (now - saidAt < (stream.isTTY ? REDRAW_MS : LINE_MS)) return;
      saidAt = now;
      stream.write(stream.isTTY ? `\r${bar(done)} ${describe(done)}\u001B[K` : `${describe(done)}\n`);
    },
    end(done) {
      const seconds = ((performance.now() - startedAt) / 1000).toFixed(1);
      stream.write(`${stream.isTTY ? '\r\u001B[K' : ''}${format(done)} ${noun} added in ${seconds} s.\n`);
    },
  };
}

function format(count: number): string {
  return count.toLocaleString('en');
}
