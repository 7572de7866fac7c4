/** A process whose callbacks run now: what it schedules comes back to it. */
export interface Owner {
  /** Queues a callback of a timer. */
  receive(cpuMs: number, work: () => void): void;
  /** Runs at the end of the turn. */
  immediately(work: () => void): void;
}

/** Simulated time, in ms. */
export interface Clock {
  now(): number;
  /** Runs `work` later, as `owner` when it is given. */
  schedule(afterMs: number, work: () => void, owner?: Owner): void;
  /** A number from 0 to 1, by the seed. */
  random(): number;
}

interface Event {
  readonly at: number;
  readonly order: number;
  readonly work: () => void;
  readonly owner: Owner | undefined;
}

/**
 * Runs `start` and what it schedules until `untilMs` of simulated time. Meanwhile the timers, `performance.now` and `Math.random` of
 * the process are those of the simulation, so that modules of the gateway run in it as they are.
 */
export async function runSimulated(seed: number, untilMs: number, start: (clock: Clock) => void): Promise<void> {
  const events: Event[] = [];
  let [now, order] = [0, 0];
  let current: Owner | undefined;
  const random = createRandom(seed);
  const clock: Clock = {
    now: () => now,
    schedule: (afterMs, work, owner) => push(events, { at: now + afterMs, order: order++, work, owner }),
    random,
  };
  const settled = globalThis.setImmediate; // of the real process: all promises have settled when it runs
  const restore = replaceTimers(clock, () => current);
  try {
    start(clock);
    for (let event = pop(events); event !== undefined && event.at <= untilMs; event = pop(events)) {
      now = event.at;
      current = event.owner;
      event.work();
      await new Promise<void>((resolve) => void settled(resolve));
    }
  } finally {
    restore();
  }
}

function replaceTimers(clock: Clock, owner: () => Owner | undefined): () => void {
  const { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval } = globalThis;
  const { random } = Math;
  const later = (work: () => void, ms: number, isRepeated: boolean) => {
    const own = owner();
    const timer = { isOver: false, unref: () => timer };
    const fire = () => {
      if (timer.isOver) return;
      if (isRepeated) clock.schedule(ms, fire);
      if (own === undefined) work();
      else own.receive(0, work);
    };
    clock.schedule(ms, fire);
    return timer;
  };
  const end = (timer?: { isOver: boolean }) => {
    if (timer) timer.isOver = true;
  };
  // Of each, the modules use this much.
  Object.assign(globalThis, {
    setTimeout: (work: () => void, ms = 0) => later(work, ms, false),
    setInterval: (work: () => void, ms = 0) => later(work, ms, true),
    setImmediate: (work: () => void) => owner()?.immediately(work),
    clearTimeout: end,
    clearInterval: end,
  });
  Object.assign(performance, { now: clock.now });
  Math.random = clock.random;
  return () => {
    Object.assign(globalThis, { setTimeout, setInterval, setImmediate, clearTimeout, clearInterval });
    Reflect.deleteProperty(performance, 'now'); // the prototype's is left
    Math.random = random;
  };
}

/** mulberry32, https://gist.github.com/tommyettinger/46a874533244883189143505d203312c */
function createRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

// A binary heap by time, then by order.

const isBefore = (a: Event, b: Event) => a.at < b.at || (a.at === b.at && a.order < b.order);

function push(heap: Event[], event: Event): void {
  let index = heap.length;
  while (index > 0) {
    const parent = (index - 1) >> 1;
    const above = heap[parent] as Event; // a parent is in the heap
    if (!isBefore(event, above)) break;
    heap[index] = above;
    index = parent;
  }
  heap[index] = event;
}

function pop(heap: Event[]): Event | undefined {
  const [first] = heap;
  const last = heap.pop();
  if (last === undefined || heap.length === 0) return first;
  let index = 0;
  for (;;) {
    let child = 2 * index + 1;
    const [left, right] = [heap[child], heap[child + 1]];
    if (left !== undefined && right !== undefined && isBefore(right, left)) child++;
    const below = heap[child];
    if (below === undefined || isBefore(last, below)) break;
    heap[index] = below;
    index = child;
  }
  heap[index] = last;
  return first;
}
