/** A page as it is served to a browser. */
export interface ServedPage {
  /** From the gateway's address. */
  readonly path: string;
  readonly html: string;
}

const HTML = { accept: 'text/html' };

/** Where the references of a page lead, as absolute addresses; of this gateway only. */
export function referencesOf(origin: string, { path, html }: ServedPage): URL[] {
  const written = [...html.matchAll(/\s(?:href|src)=(?:"([^"]*)"|'([^']*)')/g)].map(([, a, b]) => a ?? b ?? '');
  const decoded = written.map((text) =>
    text.replaceAll(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code))).replaceAll('&amp;', '&'),
  );
  return decoded.map((text) => new URL(text, origin + path)).filter((address) => address.origin === origin);
}

/** Every page that a browser gets to from the overview, the overview first. */
export async function servedPages(origin: string): Promise<readonly ServedPage[]> {
  const found = new Map<string, ServedPage | undefined>();
  const visit = async (path: string): Promise<void> => {
    if (found.has(path)) return;
    found.set(path, undefined); // under way
    const answer = await fetch(origin + path, { headers: HTML });
    const isPage = answer.headers.get('content-type')?.startsWith('text/html') === true;
    const html = await answer.text();
    if (!isPage) return;
    const page = { path, html };
    found.set(path, page);
    for (const { pathname, search } of referencesOf(origin, page)) await visit(pathname + search);
  };
  await visit('/');
  return [...found.values()].filter((page) => page !== undefined);
}
