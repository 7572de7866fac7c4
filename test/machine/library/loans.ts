import * as z from 'zod/mini';
import { type Builder, int64Id, oncePerSchema } from '../../../src/gateway/schema/builder.ts';
import type { Int64 } from '../../../src/lib/exact-json/exact-json.ts';
import { BOOKS } from './book.ts';

/** Who has a book at home. */
export interface Loan {
  reader: string;
}

/** The loans of a library by the ids of its books. They are in memory: that is enough for a test. */
export type Loans = Map<string, Loan>;

export const loanType = oncePerSchema((builder) =>
  builder.objectRef<Loan>('Loan').implement({
    description: 'A book that somebody has at home.',
    fields: (t) => ({ reader: t.exposeString('reader', { description: 'Who has it.' }) }),
  }),
);

/** What a library does with its books beside keeping them. */
export function defineLoans(builder: Builder, loans: Loans): void {
  const loan = loanType(builder);
  const input = builder.inputRef<Loan>('LoanInput').implement({
    description: 'Who takes a book home.',
    fields: (t) => ({
      reader: t
        .string({ required: true, description: 'The name of the reader.' })
        .validate(z.string().check(z.minLength(1, WRONG_READER), z.maxLength(100, WRONG_READER))),
    }),
  });
  builder.mutationFields((t) => ({
    lendBook: t.field({
      type: loan,
      nullable: true,
      description: 'Lends a book; null when there is no such book.',
      args: {
        id: t.arg.id({ required: true, description: 'The id of the book.' }).validate(int64Id),
        input: t.arg({ type: input, required: true, description: 'Who takes it.' }),
      },
      resolve: async (_root, { id, input: { reader } }, { store }) => {
        if ((await store(BOOKS).get(id)) === null) return null;
        const loan = loans.get(id) ?? { reader };
        loan.reader = reader; // the same object: what was written of it may not be kept
        loans.set(id, loan);
        return loan;
      },
    }),
    returnBook: t.field({
      type: loan,
      nullable: true,
      description: 'Takes a book back and tells who had it; null when nobody had.',
      args: { id: t.arg.id({ required: true, description: 'The id of the book.' }).validate(int64Id) },
      resolve: (_root, { id }) => takeBack(loans, id),
    }),
  }));
}

const WRONG_READER = 'must have 1 to 100 characters';

function takeBack(loans: Loans, id: Int64): Loan | null {
  const loan = loans.get(id) ?? null;
  loans.delete(id);
  return loan;
}
