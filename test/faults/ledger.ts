/** A row of `pets`, as a query gives it. */
export interface StoredPet {
  readonly id: string | number;
  readonly name: string;
}

interface Create {
  readonly hasKey: boolean;
  /** All answers in their order; more than one only with an Idempotency-Key. */
  readonly answers: string[];
  acknowledgedId?: string;
}

/** What went wrong between the answers and the database, each animal with its story. */
export interface Differences {
  readonly lost: string[];
  readonly doubled: string[];
}

/** The creates of a load: what each was answered, to be compared with what is there in the end. */
export function createLedger() {
  const creates = new Map<string, Create>();
  let latest: { id: string; name: string } | undefined;

  const story = (name: string, ids: readonly string[]): string => {
    const { hasKey = false, answers = [], acknowledgedId = 'none' } = creates.get(name) ?? {};
    const told = `${hasKey ? 'with' : 'without'} a key, answered ${answers.join(', ')}, acknowledged ${acknowledgedId}`;
    return `${name}: ${told}, stored ${ids.join(' and ') || 'nowhere'}`;
  };
  return {
    /** A create is sent for the first time. */
    open: (name: string, hasKey: boolean) => void creates.set(name, { hasKey, answers: [] }),
    /** One answer came, or none; `id` when it was 201. */
    note(name: string, answer: string, id?: string): void {
      const create = creates.get(name);
      create?.answers.push(`${answer} after ${Math.round(performance.now())} ms`);
      if (create === undefined || id === undefined) return;
      create.acknowledgedId = id;
      latest = { id, name };
    },
    /** The animal that was acknowledged last. */
    latest: () => latest,
    /**
     * Lost: an acknowledged animal that is not there under its id, and one whose client retried to the end.
     * Doubled: every name that is there more than once, acknowledged or not.
     */
    compare(stored: readonly StoredPet[]): Differences {
      const ids = Map.groupBy(stored, ({ name }) => name);
      const idsOf = (name: string) => (ids.get(name) ?? []).map(({ id }) => String(id));
      const isLost = ([name, { hasKey, acknowledgedId }]: [string, Create]) =>
        acknowledgedId === undefined ? hasKey && !ids.has(name) : !idsOf(name).includes(acknowledgedId);
      const tell = (name: string) => story(name, idsOf(name));
      return {
        lost: [...creates].filter(isLost).map(([name]) => tell(name)),
        doubled: [...ids.keys()].filter((name) => idsOf(name).length > 1).map(tell),
      };
    },
  };
}
