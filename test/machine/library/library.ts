import { defineResource, defineService, type Service } from '../../../src/gateway/service.ts';
import { type Int64, int64FromJson } from '../../../src/lib/exact-json/exact-json.ts';
import { AUTHOR_RESOURCE } from './authors.ts';
import { BOOKS, GENRES } from './book.ts';
import { BOOK_ROWS, SUBTITLE_DEPRECATION } from './book-operations.ts';
import { defineBookTypes } from './book-types.ts';
import type { Loans } from './loans.ts';

/** A second service, of which the machine knows nothing: a library, with loans of its own. */
export function createLibrary(): Service {
  const loans: Loans = new Map();
  const books = defineResource({
    table: BOOKS,
    description: 'What can be read.',
    defineTypes: (builder) => defineBookTypes(builder, loans),
    operationRows: BOOK_ROWS,
    deprecations: [SUBTITLE_DEPRECATION],
    tabs: [
      { query: '# Five books.\n{\n  books(limit: 5) {\n    id\n    label\n  }\n}\n' },
      {
        query:
          'mutation Lend($id: ID!, $input: LoanInput!) {\n  lendBook(id: $id, input: $input) {\n    reader\n  }\n}\n',
        variables: '{ "id": "1", "input": { "reader": "Ann" } }',
      },
    ],
    sample: (index) => ({
      title: `Book ${index + 1}`,
      authorId: int64FromJson(1) as Int64, // a small integer is one
      genre: GENRES[index % GENRES.length] ?? 'novel',
    }),
  });
  return defineService({
    name: 'Town Library',
    plural: 'books',
    subject: 'the books of a library',
    api: { title: 'Library API', version: '2.3.0', description: 'The books of a library, and who reads them.' },
    basePath: '/api/v2',
    firstCalls: { rest: '/books?genre=novel', graphql: '{ books(genre: NOVEL) { id label } }' },
    resources: [AUTHOR_RESOURCE, books],
  });
}
