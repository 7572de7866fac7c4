import * as z from 'zod/mini';
import { ApiError } from '../../../src/gateway/errors.ts';
import { type Builder, countedAs, int64Id, pageArguments, wordEnum } from '../../../src/gateway/schema/builder.ts';
import { AUTHORS, authorType } from './authors.ts';
import { BOOKS, type Book, type BookChanges, type Genre, type NewBook } from './book.ts';
import { defineLoans, type Loans, loanType } from './loans.ts';

/** Defines all that GraphQL has of books and their loans. */
export function defineBookTypes(builder: Builder, loans: Loans): void {
  const genre = wordEnum<Genre>(builder, 'Genre', 'What a book is.', {
    novel: 'A long story.',
    essay: 'A thought, tried.',
    poetry: 'Verse.',
  });
  const book = defineBook(builder, genre, loans);
  defineReading(builder, book, genre);
  defineAdding(builder, book, genre);
  defineChanging(builder, book, genre);
  defineLoans(builder, loans);
}

type GenreType = ReturnType<typeof wordEnum<Genre>>;

/** Where a book stands. */
interface Shelf {
  readonly row: string;
  readonly place: number;
  readonly wing: string | null;
}

function defineBook(builder: Builder, genre: GenreType, loans: Loans) {
  const author = authorType(builder);
  const shelf = builder.objectRef<Shelf>('Shelf').implement({
    description: 'A place in the library.',
    fields: (t) => ({
      row: t.exposeString('row', { description: 'The letter of the row.' }),
      place: t.exposeInt('place', { description: 'The number in the row.' }),
      wing: t.exposeString('wing', { nullable: true, description: 'Absent in the main building.' }),
    }),
  });
  return builder.objectRef<Book>('Book').implement({
    description: 'A book of the library.',
    extensions: countedAs('books'),
    fields: (t) => ({
      id: t.exposeID('id', { description: 'Assigned by the library.' }),
      title: t.exposeString('title', { description: 'As it stands on the cover.' }),
      genre: t.expose('genre', { type: genre, description: 'What it is.' }),
      language: t.exposeString('language', { nullable: true, description: 'A language tag, if it is known.' }),
      pages: t.exposeInt('pages', { nullable: true, description: 'How many pages it has, if somebody counted.' }),
      isLent: t.exposeBoolean('isLent', { nullable: true, description: 'Whether somebody has it, if anybody looked.' }),
      author: t.field({
        type: author,
        description: 'Who wrote it.',
        resolve: async ({ authorId }, _none, { store }) => (await store(AUTHORS).get(authorId)) ?? unknownAuthor(),
      }),
      shelf: t.field({ type: shelf, description: 'Where it stands.', resolve: shelfOf }),
      loan: t.field({
        type: loanType(builder),
        nullable: true,
        description: 'Who has it at home; null when it is here.',
        resolve: ({ id }) => loans.get(String(id)) ?? null,
      }),
      label: t.string({ description: 'What is printed on its back.', resolve: ({ id, title }) => `${id} ${title}` }),
      subtitle: t.string({
        nullable: true,
        description: 'What follows the colon of the title.',
        resolve: ({ title }) => title.split(': ')[1] ?? null,
      }),
    }),
  });
}

function shelfOf({ id, genre, language }: Book): Shelf {
  return { row: genre.charAt(0).toUpperCase(), place: Number(BigInt(id) % 100n), wing: language };
}

function unknownAuthor(): never {
  throw new ApiError('bad_request', 'authorId: no author has this id.');
}

const WRONG_PAGES = 'must be an integer from 1 to 9999';
const PAGES = z.int().check(z.gte(1, WRONG_PAGES), z.lte(9999, WRONG_PAGES));
const LANGUAGE = z.string().check(z.minLength(2, 'must have 2 to 35 characters'), z.maxLength(35));

function defineReading(builder: Builder, book: ReturnType<typeof defineBook>, genre: GenreType): void {
  builder.queryFields((t) => ({
    books: t.field({
      type: [book],
      description: 'Books by ascending id.',
      args: {
        genre: t.arg({ type: genre, description: 'Only books that are this.' }),
        language: t.arg.string({ description: 'Only books in this language.' }).validate(LANGUAGE),
        isLent: t.arg.boolean({ description: 'Only books that somebody has, or that nobody has.' }),
        ...pageArguments(builder, 'books'),
      },
      resolve: (_root, query, { store }) => store(BOOKS).list(query),
    }),
    book: t.field({
      type: book,
      nullable: true,
      description: 'One book by its id; null when there is none.',
      args: { id: t.arg.id({ required: true, description: 'The id of the book.' }).validate(int64Id) },
      resolve: (_root, { id }, { store }) => store(BOOKS).get(id),
    }),
  }));
}

function defineAdding(builder: Builder, book: ReturnType<typeof defineBook>, genre: GenreType): void {
  const input = builder.inputRef<NewBook>('NewBookInput').implement({
    description: 'A book to add.',
    fields: (t) => ({
      title: t.string({ required: true, description: 'As it stands on the cover.' }),
      authorId: t.id({ required: true, description: 'Who wrote it.' }).validate(int64Id),
      genre: t.field({ type: genre, required: true, description: 'What it is.' }),
      language: t.string({ description: 'A language tag.' }).validate(LANGUAGE),
      pages: t.int({ description: 'How many pages it has.' }).validate(PAGES),
      isLent: t.boolean({ description: 'Whether somebody has it.' }),
    }),
  });
  builder.mutationField('addBook', (t) =>
    t.field({
      type: book,
      description: 'Adds a book.',
      args: { input: t.arg({ type: input, required: true, description: 'The book to add.' }) },
      resolve: async (_root, { input: added }, { store }) => {
        if ((await store(AUTHORS).get(added.authorId)) === null) unknownAuthor();
        return store(BOOKS).add(added);
      },
    }),
  );
}

function defineChanging(builder: Builder, book: ReturnType<typeof defineBook>, genre: GenreType): void {
  const input = builder.inputRef<BookChanges>('BookChangesInput').implement({
    description: 'What changes of a book; the rest stays.',
    fields: (t) => ({
      title: t.string({ description: 'As it stands on the cover.' }),
      genre: t.field({ type: genre, description: 'What it is.' }),
      pages: t.int({ description: 'How many pages it has.' }).validate(PAGES),
      isLent: t.boolean({ description: 'Whether somebody has it.' }),
    }),
  });
  builder.mutationFields((t) => ({
    updateBook: t.field({
      type: book,
      nullable: true,
      description: 'Changes a book; null when there is none.',
      args: {
        id: t.arg.id({ required: true, description: 'The id of the book.' }).validate(int64Id),
        input: t.arg({ type: input, required: true, description: 'What changes.' }),
      },
      resolve: (_root, { id, input: changes }, { store }) => store(BOOKS).update(id, changes),
    }),
    removeBook: t.field({
      type: book,
      nullable: true,
      description: 'Removes a book; null when there is none.',
      args: { id: t.arg.id({ required: true, description: 'The id of the book.' }).validate(int64Id) },
      resolve: (_root, { id }, { store }) => store(BOOKS).remove(id),
    }),
  }));
}
