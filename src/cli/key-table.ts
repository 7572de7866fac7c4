import { KEY_PREFIX } from '../key-mask.ts';
import type { ApiKey } from '../keys/key-store.ts';

/** What is known of a key, as programs get it: complete, moments in ISO 8601. */
export function describeKey(key: ApiKey, now: number) {
  const moment = (date: Date | null) => date?.toISOString() ?? null;
  return {
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    state: stateOf(key, now),
    rights: key.readOnly ? ('read-only' as const) : ('full' as const),
    created: key.createdAt.toISOString(),
    expires: moment(key.expiresAt),
    lastUsed: moment(key.lastUsedAt),
    revoked: moment(key.revokedAt),
  };
}

function stateOf({ revokedAt, expiresAt }: ApiKey, now: number): string {
  if (revokedAt !== null) return 'revoked';
  if (expiresAt === null) return 'active';
  const leftMs = expiresAt.getTime() - now;
  return leftMs <= 0 ? 'expired' : `expires in ${roughly(leftMs)}`;
}

const UNITS = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
  ['second', 1000],
] as const;

/** `3 days`: rounded down, so that no key seems to last longer than it does. */
function roughly(ms: number): string {
  const [unit, unitMs] = UNITS.find(([, each]) => ms >= each) ?? UNITS[3];
  const count = Math.max(1, Math.floor(ms / unitMs));
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}

/** What a name of a key may not hold: control, format (bidirectional ones too), private and unassigned characters, line ends. */
export const UNPRINTABLE = /[\p{C}\p{Zl}\p{Zp}]/u;

const COLUMNS_MAX = 80;
const GAP = '  ';
/** With less room for names, in columns, prefixes lose what they all have in common. */
const NAME_ROOM = 8;
const RIGHTS = { full: 'full', 'read-only': 'read' } as const;

/** The keys as lines of 80 columns at most: names are cut as short as that needs. */
export function keyTable(rows: readonly ReturnType<typeof describeKey>[], cutPrefix = false): string[] {
  const day = (moment: string | null) => moment?.slice(0, 10) ?? '-';
  const rest = [
    ['prefix', 'state', 'rights', 'created', 'last used'],
    ...rows.map((row) => [
      cutPrefix ? row.prefix.replace(KEY_PREFIX, '…') : row.prefix,
      row.state,
      RIGHTS[row.rights],
      day(row.created),
      day(row.lastUsed),
    ]),
  ];
  const ids = padColumn(['id', ...rows.map(({ id }) => id)]);
  const columns = [0, 1, 2, 3, 4].map((column) => padColumn(rest.map((cells) => cells[column] ?? '')));
  const others = [ids, ...columns].reduce((sum, cells) => sum + (cells[0]?.length ?? 0) + GAP.length, 0);
  const room = COLUMNS_MAX - others;
  if (room < NAME_ROOM && !cutPrefix) return keyTable(rows, true);
  const names = padColumn(['name', ...rows.map(({ name }) => cut(visibleName(name), Math.max(1, room)))]);
  return ids.map((id, line) => [id, names[line], ...columns.map((cells) => cells[line])].join(GAP).trimEnd());
}

function padColumn(cells: readonly string[]): string[] {
  const width = Math.max(...cells.map(widthOf));
  return cells.map((cell) => cell + ' '.repeat(width - widthOf(cell)));
}

/** The name of a key for a terminal: one that was stored by other means may hold what a terminal obeys. */
export function visibleName(name: string): string {
  return name.replace(new RegExp(UNPRINTABLE, 'gu'), (character) => `\\u{${character.codePointAt(0)?.toString(16)}}`);
}

function cut(text: string, columns: number): string {
  if (widthOf(text) <= columns) return text;
  let kept = '';
  for (const { segment } of GRAPHEMES.segment(text)) {
    if (widthOf(kept + segment) >= columns) break;
    kept += segment;
  }
  return `${kept}…`;
}

const GRAPHEMES = new Intl.Segmenter('en', { granularity: 'grapheme' });
/** Two columns wide on a terminal: emoji, and the scripts of https://www.unicode.org/reports/tr11/ that are. */
const WIDE =
  /\p{Emoji_Presentation}|\uFE0F|[\u1100-\u115F\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\u3000-\u303E\uFF01-\uFF60\uFFE0-\uFFE6]/u;

function widthOf(text: string): number {
  let width = 0;
  for (const { segment } of GRAPHEMES.segment(text)) width += WIDE.test(segment) ? 2 : 1;
  return width;
}
