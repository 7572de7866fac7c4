import type { Deprecation } from '../../../src/gateway/deprecations.ts';
import type { OperationRow } from '../../../src/gateway/rest/operation.ts';

/** A field that goes: the title holds it already. */
export const SUBTITLE_DEPRECATION: Deprecation = {
  coordinate: 'Book.subtitle',
  since: new Date('2027-02-01T00:00:00Z'),
  sunset: new Date('2031-07-09T00:00:00Z'),
  replacement: { graphql: 'Book.title', rest: 'GET /api/v2/books', restPath: '/api/v2/books' },
};

const AUTHOR = { id: 4, name: 'Jane Austen' };
const BOOK = { id: 7, title: 'Emma: A Novel', genre: 'novel', language: 'en', pages: 474, author: AUTHOR };
const FIELDS = '{ id title genre language pages isLent author { id name } }';
const MISSING = 'No book has this id.';

/** Every method, a status without content, two forms of a book, an experiment, and something deprecated. */
export const BOOK_ROWS: readonly OperationRow[] = [
  {
    operationId: 'listBooks',
    method: 'GET',
    path: '/books',
    summary: 'List books',
    description: 'Books by ascending id.',
    document: `query ($limit: Int, $genre: Genre, $language: String, $isLent: Boolean, $after: ID) {
      books(limit: $limit, genre: $genre, language: $language, isLent: $isLent, after: $after) ${FIELDS}
    }`,
    success: { status: 200, description: 'A page of books.' },
    examples: { answer: [BOOK], parameters: { limit: 20, language: 'en', after: 20 } },
  },
  {
    operationId: 'createBook',
    method: 'POST',
    path: '/books',
    summary: 'Add a book',
    description: 'Adds a book.',
    document: `mutation ($input: NewBookInput!) { addBook(input: $input) ${FIELDS} }`,
    success: { status: 201, description: 'The book, with its id.', location: '/books/{id}' },
    isIdempotent: true,
    examples: { answer: BOOK, body: { title: 'Emma: A Novel', authorId: 4, genre: 'novel' } },
  },
  {
    operationId: 'getBook',
    method: 'GET',
    path: '/books/{bookId}',
    summary: 'Get a book',
    description: 'A book with all that belongs to it.',
    stability: 'experimental',
    document: `query ($bookId: ID!) {
      book(id: $bookId) { id title author { id name } shelf { row place wing } loan { reader } }
    }`,
    schemaName: 'WholeBook',
    success: { status: 200, description: 'The book.' },
    notFound: MISSING,
    examples: {
      answer: { id: 7, title: 'Emma', author: AUTHOR, shelf: { row: 'N', place: 7 } },
      parameters: { bookId: 7 },
    },
  },
  {
    operationId: 'updateBook',
    method: 'PATCH',
    path: '/books/{bookId}',
    summary: 'Change a book',
    description: 'Changes what is sent of a book.',
    stability: 'beta',
    document: `mutation ($bookId: ID!, $input: BookChangesInput!) { updateBook(id: $bookId, input: $input) ${FIELDS} }`,
    success: { status: 200, description: 'The book as it is now.' },
    notFound: MISSING,
    examples: { answer: BOOK, body: { pages: 474 }, parameters: { bookId: 7 } },
  },
  {
    operationId: 'removeBook',
    method: 'DELETE',
    path: '/books/{bookId}',
    summary: 'Remove a book',
    description: 'Removes a book.',
    document: 'mutation ($bookId: ID!) { removeBook(id: $bookId) { id } }',
    success: { status: 204, description: 'It is gone.' },
    notFound: MISSING,
    examples: { parameters: { bookId: 7 } },
  },
  {
    operationId: 'getTitle',
    method: 'GET',
    path: '/books/{bookId}/title',
    summary: 'Get the title of a book',
    description: 'The title and what follows its colon.',
    document: 'query ($bookId: ID!) { book(id: $bookId) { title subtitle } }',
    schemaName: 'Title',
    success: { status: 200, description: 'The title.' },
    notFound: MISSING,
    examples: { answer: { title: 'Emma: A Novel', subtitle: 'A Novel' }, parameters: { bookId: 7 } },
  },
  {
    operationId: 'lendBook',
    method: 'PUT',
    path: '/books/{bookId}/loan',
    summary: 'Lend a book',
    description: 'Notes who has a book at home.',
    document: 'mutation ($bookId: ID!, $input: LoanInput!) { lendBook(id: $bookId, input: $input) { reader } }',
    success: { status: 200, description: 'The loan.' },
    notFound: MISSING,
    examples: { answer: { reader: 'Ann' }, body: { reader: 'Ann' }, parameters: { bookId: 7 } },
  },
  {
    operationId: 'returnBook',
    method: 'DELETE',
    path: '/books/{bookId}/loan',
    summary: 'Take a book back',
    description: 'Forgets who had it.',
    document: 'mutation ($bookId: ID!) { returnBook(id: $bookId) { reader } }',
    success: { status: 204, description: 'It is back.' },
    notFound: 'Nobody has this book.',
    examples: { parameters: { bookId: 7 } },
  },
];
