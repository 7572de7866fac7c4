import { REQUEST_MS } from '../../src/gateway/deadlines.ts';
import { createStores } from '../../src/gateway/store/store.ts';
import { deadlineIn } from '../../src/lib/deadline/deadline.ts';
import { PETS } from '../../src/petstore/pets/pet.ts';
import { type Clock, runSimulated } from './clock.ts';
import { createSimulatedDatabase, type StatementCosts, type StatementKind, type Way } from './database.ts';
import { createDisk, createEventLoop, createHost, type EventLoop, type Host } from './machine.ts';

/** What a request costs beside its part of a statement. */
export interface Costs extends StatementCosts {
  /** CPU of the gateway, in ms. */
  readonly requestMs: number;
}

/** What is simulated. Times are in ms. */
export interface SystemOptions {
  readonly seed: number;
  readonly gateways: number;
  /** Of each gateway. */
  readonly workers: number;
  /** Connections of each worker. */
  readonly pool: number;
  /** Of each gateway's machine. */
  readonly gatewayCores: number;
  /** Of the database's machine; 0: it shares that of the first gateway. */
  readonly databaseCores: number;
  readonly roundTripMs: number;
  /** CPU of a proxy on the way, for each packet, on the machine of the first gateway; 0 without one. */
  readonly proxyMs: number;
  readonly flushMs: number;
  readonly costs: Readonly<Record<StatementKind, Costs>>;
  /** Parts of each kind, of 1 together. */
  readonly mix: Readonly<Record<StatementKind, number>>;
  /** Clients that ask again at once, or requests a second that come by chance. */
  readonly load: { readonly clients: number; readonly clientMs: number } | { readonly perSecond: number };
  readonly seconds: number;
}

export interface SystemResults {
  readonly perSecond: number;
  readonly meanMs: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
  /** Requests under way, on average. */
  readonly underWay: number;
  /** Cores that the machine of the database used. */
  readonly databaseCores: number;
  /** Cores that the machines of the gateways used together; with the database's, where that shares one. */
  readonly gatewayCores: number;
  readonly statementsPerRequest: number;
  readonly commitsPerSecond: number;
}

const WARM_UP_MS = 500;
const KINDS = ['list', 'get', 'create'] as const;

/** Simulates gateways in front of one database. The same seed gives the same results. */
export async function simulate(options: SystemOptions): Promise<SystemResults> {
  const endsAt = WARM_UP_MS + options.seconds * 1000;
  const latencies: number[] = [];
  let [begun, area, since, under, statements, commits] = [0, 0, 0, 0, 0, 0];
  let usedMs = (): readonly [database: number, gateways: number] => [0, 0];
  let [databaseBefore, gatewaysBefore] = usedMs();
  await runSimulated(options.seed, endsAt, (clock) => {
    const { note, ...system } = createSystem(options, clock, (kind) => {
      if (clock.now() < WARM_UP_MS) return;
      statements++;
      if (kind === 'create') commits++;
    });
    usedMs = () => [system.database.usedMs(), system.hosts.reduce((sum, host) => sum + host.usedMs(), 0)];
    clock.schedule(WARM_UP_MS, () => {
      [databaseBefore, gatewaysBefore] = usedMs();
      since = clock.now();
    });
    const count = (step: number) => {
      if (clock.now() >= WARM_UP_MS) area += under * (clock.now() - since);
      since = clock.now();
      under += step;
    };
    let next = 0;
    const ask = (done: () => void) => {
      const startedAt = clock.now();
      const target = system.workers[next++ % system.workers.length];
      count(1);
      if (startedAt >= WARM_UP_MS) begun++;
      target?.(kindOf(options.mix, clock.random()), () => {
        count(-1);
        if (clock.now() >= WARM_UP_MS) latencies.push(clock.now() - startedAt);
        done();
      });
    };
    note(ask);
  });
  const ascending = latencies.sort((a, b) => a - b);
  const percentile = (share: number) => ascending[Math.floor(ascending.length * share)] ?? Number.NaN;
  const ms = options.seconds * 1000;
  const [databaseAfter, gatewaysAfter] = usedMs();
  return {
    perSecond: ascending.length / options.seconds,
    meanMs: ascending.reduce((sum, one) => sum + one, 0) / ascending.length,
    p50Ms: percentile(0.5),
    p99Ms: percentile(0.99),
    underWay: area / ms,
    databaseCores: (databaseAfter - databaseBefore) / ms,
    gatewayCores: (gatewaysAfter - gatewaysBefore) / ms,
    statementsPerRequest: statements / Math.max(1, begun),
    commitsPerSecond: commits / options.seconds,
  };
}

function kindOf(mix: SystemOptions['mix'], chance: number): StatementKind {
  let sum = 0;
  for (const kind of KINDS) {
    sum += mix[kind];
    if (chance < sum) return kind;
  }
  return 'list';
}

/** The workers, as functions that answer a request; `note` is given how to ask one, and lets the load begin. */
function createSystem(options: SystemOptions, clock: Clock, onStatement: (kind: StatementKind) => void) {
  const { gateways, workers: workersOf, gatewayCores, databaseCores, flushMs, load } = options;
  const hosts = Array.from({ length: gateways }, () => createHost(clock, gatewayCores));
  const [firstHost] = hosts;
  if (firstHost === undefined) throw new Error('There is at least one gateway.');
  const database = databaseCores === 0 ? firstHost : createHost(clock, databaseCores);
  const disk = createDisk(clock, flushMs);
  const way = createWay(options, clock, firstHost);
  const workers = Array.from({ length: workersOf }).flatMap(() =>
    hosts.map((host) => createWorker(createEventLoop(clock, host))),
  );
  function createWorker(loop: EventLoop) {
    const own = { ...options, clock, loop, way, host: database, disk, connectionsMax: options.pool, note: onStatement };
    const pets = createStores(createSimulatedDatabase(own))(PETS);
    const id = () => String(1 + Math.floor(clock.random() * 1e9)) as NonNullable<Parameters<typeof pets.get>[0]>; // digits
    const start = (kind: StatementKind): Promise<unknown> => {
      const deadline = deadlineIn(REQUEST_MS);
      if (kind === 'list') return pets.list({ limit: 20, after: id(), status: 'sold' }, deadline);
      if (kind === 'get') return pets.get(id(), deadline);
      return pets.add({ name: 'simulated', categoryId: id(), status: 'sold' }, null, deadline);
    };
    return (kind: StatementKind, respond: () => void): void => {
      const half = options.costs[kind].requestMs / 2;
      loop.receive(half, () => void start(kind).then(() => loop.goOn(half, respond)));
    };
  }
  const begin = (ask: (done: () => void) => void): void => {
    if ('perSecond' in load) {
      const arrive = () => {
        ask(() => {});
        clock.schedule((-Math.log(1 - clock.random()) * 1000) / load.perSecond, arrive);
      };
      arrive();
      return;
    }
    const client = createEventLoop(clock, firstHost ?? createHost(clock, 1));
    const again = () => client.receive(load.clientMs, () => ask(again));
    for (let index = 0; index < load.clients; index++) again();
  };
  return { workers, database, hosts, note: begin };
}

function createWay({ roundTripMs, proxyMs }: SystemOptions, clock: Clock, host: Host): Way {
  const proxy = createEventLoop(clock, host);
  return {
    carry(done) {
      const go = () => clock.schedule(roundTripMs / 2, done);
      if (proxyMs === 0) go();
      else proxy.receive(proxyMs, go);
    },
  };
}
