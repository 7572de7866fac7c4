import type { Clock, Owner } from './clock.ts';

/** The cores of one machine. */
export interface Host {
  /** Uses so much CPU time of one thread, then calls `done`. */
  use(cpuMs: number, done: () => void, owner?: Owner): void;
  /** CPU time used so far, in ms. */
  usedMs(): number;
}

/** Cores that all threads share evenly, as the scheduler of Linux does over some ms. */
export function createHost(clock: Clock, cores: number): Host {
  // Virtual time passes as fast as each of the threads runs: a thread ends when it has passed by its work.
  const threads: { readonly endsAt: number; readonly done: () => void; readonly owner: Owner | undefined }[] = [];
  let [virtual, since, used, version] = [0, 0, 0, 0];
  const speed = () => Math.min(1, cores / threads.length);
  const advance = () => {
    const passed = clock.now() - since;
    if (threads.length > 0) {
      virtual += passed * speed();
      used += passed * speed() * threads.length;
    }
    since = clock.now();
  };
  const next = () => {
    const [first] = threads;
    const own = ++version;
    if (first === undefined) return;
    clock.schedule(Math.max(0, (first.endsAt - virtual) / speed()), () => own === version && finish(), first.owner);
  };
  const finish = () => {
    advance();
    const thread = threads.shift();
    next();
    thread?.done();
  };
  return {
    use(cpuMs, done, owner) {
      advance();
      const thread = { endsAt: virtual + cpuMs, done, owner };
      const index = threads.findLastIndex(({ endsAt }) => endsAt <= thread.endsAt) + 1;
      threads.splice(index, 0, thread);
      next();
    },
    usedMs: () => {
      advance();
      return used;
    },
  };
}

/** A process of Node: one thread, whose loop takes all that has come, then runs what waits for the end of the turn. */
export interface EventLoop extends Owner {
  /** Goes on with a callback that has begun, before anything else. */
  goOn(cpuMs: number, work: () => void): void;
}

export function createEventLoop(clock: Clock, host: Host): EventLoop {
  interface Task {
    readonly cpuMs: number;
    readonly work: () => void;
  }
  let isBusy = false;
  let turn: Task[] = [];
  let inbox: Task[] = [];
  const urgent: Task[] = [];
  const atEnd: (() => void)[] = [];
  const wake = () => clock.schedule(0, pump);
  const pump = () => {
    if (isBusy) return;
    if (urgent.length + turn.length === 0 && atEnd.length > 0) {
      isBusy = true;
      const works = atEnd.splice(0);
      clock.schedule(0, () => works.map((work) => work()), loop);
      clock.schedule(0, finish);
      return;
    }
    if (urgent.length + turn.length === 0) [turn, inbox] = [inbox, turn];
    const task = urgent.shift() ?? turn.shift();
    if (task === undefined) return;
    isBusy = true;
    const end = () => {
      task.work();
      clock.schedule(0, finish); // when what it has settled has gone on
    };
    host.use(task.cpuMs, end, loop);
  };
  const finish = () => {
    isBusy = false;
    pump();
  };
  const loop: EventLoop = {
    receive(cpuMs, work) {
      inbox.push({ cpuMs, work });
      wake();
    },
    goOn(cpuMs, work) {
      urgent.push({ cpuMs, work });
      wake();
    },
    immediately(work) {
      atEnd.push(work);
      wake();
    },
  };
  return loop;
}

/** A disk that makes all commits lasting that wait for it, at once. */
export function createDisk(clock: Clock, flushMs: number) {
  let waiting: (() => void)[] = [];
  let isBusy = false;
  const flush = () => {
    isBusy = waiting.length > 0;
    const done = waiting;
    waiting = [];
    if (!isBusy) return;
    clock.schedule(flushMs, () => {
      for (const one of done) one();
      flush();
    });
  };
  return (done: () => void): void => {
    waiting.push(done);
    if (!isBusy) flush();
  };
}
