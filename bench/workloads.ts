import { PETS_COUNT, type Question, STATUSES } from './pets.ts';

/** A kind of traffic. */
export interface Workload {
  readonly name: string;
  readonly title: string;
  /** The question number `index`, from 0. */
  question(index: number): Question;
}

/** How many different questions a workload asks before it begins anew. */
export const QUESTIONS_COUNT = 2000;

/** Spreads neighbours over the table, the last tenth left out so that every page is full. */
const spread = (index: number): number => ((index * 7919) % (PETS_COUNT * 0.9)) + 1;

const status = (index: number) => STATUSES[index % STATUSES.length] ?? 'sold';

export const WORKLOADS: readonly Workload[] = [
  {
    name: 'list-20',
    title: 'list 20, different pages',
    question: (index) => ({ kind: 'list', limit: 20, status: status(index), after: spread(index) }),
  },
  {
    name: 'list-20-same',
    title: 'list 20, the same page for all',
    question: () => ({ kind: 'list', limit: 20, status: 'sold', after: 1000 }),
  },
  {
    name: 'list-100',
    title: 'list 100, different pages',
    question: (index) => ({ kind: 'list', limit: 100, status: status(index), after: spread(index) }),
  },
  {
    name: 'get',
    title: 'get by id, different ids',
    question: (index) => ({ kind: 'get', id: spread(index) }),
  },
  {
    name: 'create',
    title: 'create, every commit flushed',
    question: (index) => ({
      kind: 'create',
      pet: { id: '', name: `Newcomer ${index} é`, categoryId: String((index % 50) + 1), status: status(index) },
    }),
  },
];
