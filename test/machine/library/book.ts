import { type Changes, defineTable, type NewRow, type StoredRow } from '../../../src/gateway/store/table.ts';

export const GENRES = ['novel', 'essay', 'poetry'] as const;

export type Genre = (typeof GENRES)[number];

/** Every kind of field is here, and a filter by a word, by a text and by a boolean. */
export const BOOKS = defineTable('books', {
  title: { kind: 'text' },
  authorId: { kind: 'int64' },
  genre: { kind: 'word', words: GENRES, filter: true },
  language: { kind: 'text', maxLength: 100, optional: true, filter: true },
  pages: { kind: 'int', optional: true },
  isLent: { kind: 'boolean', optional: true, filter: true },
});

export type Book = StoredRow<typeof BOOKS>;

export type NewBook = NewRow<typeof BOOKS>;

export type BookChanges = Changes<typeof BOOKS>;
