import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isShed } from '../support/load.ts';
import { msSince } from '../support/stall-clock.ts';
import { createLedger, type Differences, type StoredPet } from './ledger.ts';

/** What a load has seen so far; `wrong` must stay empty. */
export interface LoadReport {
  sent: number;
  right: number;
  /** Honest 503s, and 429s of requests that waited too long. */
  unavailable: number;
  /** Requests that the gateway's own death cut off. */
  cut: number;
  readonly wrong: string[];
  /** The time of the slowest answer, without what held up this process: for an upper bound. */
  slowestMs: number;
  /** The same with it: for a lower bound. */
  longestMs: number;
}

/** The gateway that is loaded. */
export interface LoadTarget {
  readonly url: string;
  /** Further gateways of the same animals: then each read goes to another one than the create that it must show. */
  readonly others?: readonly string[];
  readonly key: string;
  /** All animals that are there in the end. */
  readonly stored: () => Promise<readonly StoredPet[]>;
  /** Whether the gateway itself is killed: a request may then end without an answer. */
  readonly gatewayDies?: boolean;
}

/** Eight is enough to keep both a pool of ten and its host busy, and leaves a small machine room for the servers. */
const CLIENTS = 8;
/** A part of each name that no other character set than Unicode has. */
const NOT_LATIN = '日本 🐾';

/**
 * Clients that create, half of them with an Idempotency-Key and retries until the animal is there, and that get and
 * list what was acknowledged. Every answer must be right, or a refusal within five seconds. `stop` ends the load, then compares what
 * was acknowledged with what is there: `lost` and `doubled` must be empty.
 */
export function startMixedLoad({ url, others = [], key, stored, gatewayDies = false }: LoadTarget) {
  const gateways = [url, ...others];
  const at = (index: number): string => gateways[index % gateways.length] ?? url;
  let lastWriter = 0; // of the animal that was acknowledged last
  const report: LoadReport = { sent: 0, right: 0, unavailable: 0, cut: 0, wrong: [], slowestMs: 0, longestMs: 0 };
  const ledger = createLedger();
  const load = randomUUID().slice(0, 8); // the animals of an earlier load may be there, too
  let stopped = false;

  const judge = (isRight: boolean, what: string) => {
    if (isRight) report.right++;
    else report.wrong.push(what);
  };
  /** The answer, judged already when it is "not now"; undefined when the gateway died over it. */
  const ask = async (target: string, headers: Record<string, string> = {}, body?: string) => {
    const startedAt = performance.now();
    report.sent++;
    try {
      const init = body === undefined ? {} : { method: 'POST', body };
      const response = await fetch(target, { ...init, headers: { authorization: `Bearer ${key}`, ...headers } });
      const received = await response.json();
      // After a wait for its share a request is refused by 429, which is as honest.
      const isLate = response.status === 429 && isShed(received.message);
      const answer = { status: isLate ? 503 : response.status, body: received };
      report.slowestMs = Math.max(report.slowestMs, msSince(startedAt));
      report.longestMs = Math.max(report.longestMs, performance.now() - startedAt);
      if (answer.status === 503) {
        report.unavailable++;
        if ((!isLate && received.code !== 'service_unavailable') || !response.headers.get('retry-after'))
          report.wrong.push(JSON.stringify(received));
      }
      return answer;
    } catch (error) {
      if (!gatewayDies) throw error;
      report.cut++;
      await delay(20); // until somebody listens again
      return undefined;
    }
  };
  /** Whether this create is done: 503, 409, a process that was held up and no answer are not. */
  const create = async (writer: number, id: string, name: string, hasKey: boolean): Promise<boolean> => {
    const headers = {
      'content-type': 'application/json',
      'x-request-id': id,
      ...(hasKey && { 'idempotency-key': id }),
    };
    const answer = await ask(`${at(writer)}/v1/pets`, headers, JSON.stringify({ name, categoryId: 1 }));
    const isCreated = answer?.status === 201;
    if (isCreated) lastWriter = writer;
    ledger.note(name, String(answer?.status ?? 'no answer'), isCreated ? String(answer.body.id) : undefined);
    if (answer === undefined || answer.status === 503) return false;
    const isAtWork = hasKey && answer.status === 409 && answer.body.code === 'idempotency_conflict';
    judge(isAtWork || (isCreated && answer.body.name === name), `${name}: ${JSON.stringify(answer)}`);
    return isCreated;
  };
  const read = async (): Promise<void> => {
    const pet = ledger.latest(); // acknowledged before we ask: whatever is read must show it
    const isList = report.sent % 2 === 0;
    const listed = pet === undefined ? '/v1/pets?limit=5' : `/v1/pets?limit=1&after=${BigInt(pet.id) - 1n}`;
    const reader = at(lastWriter + 1 + (report.sent % Math.max(1, gateways.length - 1)));
    const answer = await ask(reader + (pet === undefined || isList ? listed : `/v1/pets/${pet.id}`));
    if (answer === undefined || answer.status === 503) return;
    const found = Array.isArray(answer.body) ? answer.body[0] : answer.body;
    const isRight = answer.status === 200 && (pet === undefined || found?.name === pet.name);
    judge(isRight, `read of ${JSON.stringify(pet)}: ${JSON.stringify(answer)}`);
  };
  const client = async (number: number): Promise<void> => {
    for (let round = 0; !stopped; round++) {
      const id = `animal-${load}-${number}-${round}`;
      const name = `${id} ${NOT_LATIN}`;
      const hasKey = number % 2 === 0;
      ledger.open(name, hasKey);
      // Retried until it is there, also after the load has ended: a create that was begun is brought to its end.
      while (!(await create(number, id, name, hasKey)) && hasKey) await delay(50);
      await read();
    }
  };
  const running = Array.from({ length: CLIENTS }, (_, number) => client(number));
  return {
    report,
    async stop(): Promise<LoadReport & Differences> {
      stopped = true;
      await Promise.all(running);
      return { ...report, ...ledger.compare(await stored()) };
    },
  };
}
