import { expect, test } from 'vitest';
import { SQLITE } from '../support/engines.ts';
import { startGateway } from '../support/gateway.ts';
import { referencesOf, type ServedPage, servedPages } from '../support/served-pages.ts';

const { url } = await startGateway(SQLITE);
const pages = await servedPages(url);

const idsOf = ({ html }: ServedPage): string[] => [...html.matchAll(/\sid=["']([^"']+)["']/g)].map(([, id = '']) => id);

/** Why a reference leads nowhere; undefined when it does not. */
async function complaintAbout({ pathname, search, hash }: URL): Promise<string | undefined> {
  const status = (await fetch(url + pathname + search, { headers: { accept: 'text/html' } })).status;
  // What needs a key is there, too.
  if (status !== 200 && !(status === 401 && /^\/(?:v1|graphql)\b/.test(pathname))) return `${status} ${pathname}`;
  const target = pages.find(({ path }) => path === pathname);
  const isNamed = hash === '' || target === undefined || idsOf(target).includes(decodeURIComponent(hash.slice(1)));
  return isNamed ? undefined : `no id for ${pathname}${hash}`;
}

test('the overview leads to every page, to the probes and to both descriptions', () => {
  expect(pages.map(({ path }) => path)).toEqual(expect.arrayContaining(['/', '/docs', '/graphql']));
  const [overview = expect.fail('the first page')] = pages;
  expect(referencesOf(url, overview).map(({ pathname, hash }) => pathname + hash)).toEqual(
    expect.arrayContaining('/livez /readyz /metrics /docs#graphql /v1/openapi.json /schema.graphql'.split(' ')),
  );
});

test.each(pages)('every reference of $path leads somewhere, to an id where it names one', async (page) => {
  const references = referencesOf(url, page);
  const complaints = await Promise.all(references.map(complaintAbout));
  expect(complaints.filter((complaint) => complaint !== undefined)).toEqual([]);
  expect(references.length).toBeGreaterThan(2);
});

test.each(pages)('no id of $path is there twice', (page) => {
  const ids = idsOf(page);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
});
