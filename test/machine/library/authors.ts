import { type Builder, countedAs, int64Id, oncePerSchema, pageArguments } from '../../../src/gateway/schema/builder.ts';
import { defineResource } from '../../../src/gateway/service.ts';
import { defineTable, type NewRow, type StoredRow } from '../../../src/gateway/store/table.ts';

export const AUTHORS = defineTable('authors', { name: { kind: 'text' } });

/** The type of an author, which books refer to. */
export const authorType = oncePerSchema((builder) =>
  builder.objectRef<StoredRow<typeof AUTHORS>>('Author').implement({
    description: 'Somebody who wrote a book.',
    extensions: countedAs('authors'),
    fields: (t) => ({
      id: t.exposeID('id', { description: 'Assigned by the library.' }),
      name: t.exposeString('name', { description: 'As it stands on the cover.' }),
    }),
  }),
);

function defineAuthorTypes(builder: Builder): void {
  const author = authorType(builder);
  const input = builder.inputRef<NewRow<typeof AUTHORS>>('NewAuthorInput').implement({
    description: 'An author to add.',
    fields: (t) => ({ name: t.string({ required: true, description: 'As it stands on the cover.' }) }),
  });
  builder.queryFields((t) => ({
    authors: t.field({
      type: [author],
      description: 'Authors by ascending id.',
      args: pageArguments(builder, 'authors'),
      resolve: (_root, query, { store }) => store(AUTHORS).list(query),
    }),
    author: t.field({
      type: author,
      nullable: true,
      description: 'One author by its id; null when there is none.',
      args: { id: t.arg.id({ required: true, description: 'The id of the author.' }).validate(int64Id) },
      resolve: (_root, { id }, { store }) => store(AUTHORS).get(id),
    }),
  }));
  builder.mutationField('addAuthor', (t) =>
    t.field({
      type: author,
      description: 'Adds an author.',
      args: { input: t.arg({ type: input, required: true, description: 'The author to add.' }) },
      resolve: (_root, { input: added }, { store }) => store(AUTHORS).add(added),
    }),
  );
}

const AUTHOR = { id: 4, name: 'Jane Austen' };

export const AUTHOR_RESOURCE = defineResource({
  table: AUTHORS,
  description: 'Those who wrote the books.',
  defineTypes: defineAuthorTypes,
  sample: (index) => ({ name: `Author ${index + 1}` }),
  operationRows: [
    {
      operationId: 'listAuthors',
      method: 'GET',
      path: '/authors',
      summary: 'List authors',
      description: 'Authors by ascending id.',
      document: 'query ($limit: Int, $after: ID) { authors(limit: $limit, after: $after) { id name } }',
      success: { status: 200, description: 'A page of authors.' },
      examples: { answer: [AUTHOR], parameters: { limit: 20, after: 20 } },
    },
    {
      operationId: 'createAuthor',
      method: 'POST',
      path: '/authors',
      summary: 'Add an author',
      description: 'Adds an author.',
      document: 'mutation ($input: NewAuthorInput!) { addAuthor(input: $input) { id name } }',
      // Nobody gets an author by its address: there is no Location.
      success: { status: 201, description: 'The author, with an id.' },
      isIdempotent: true,
      examples: { answer: AUTHOR, body: { name: 'Jane Austen' } },
    },
  ],
});
