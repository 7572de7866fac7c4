/** A deprecation with its dates; headers, documents and reports are derived from it. */
export interface Deprecation {
  /** The GraphQL coordinate, `Type.field`. A REST operation whose document has the field is deprecated too. */
  readonly coordinate: string;
  /** When it became deprecated. */
  readonly since: Date;
  /** When it will be removed. */
  readonly sunset: Date;
  /** What to use instead: phrases for people, and `restPath` for links. */
  readonly replacement: { readonly graphql: string; readonly rest: string; readonly restPath: string };
  /** The requests that replace it, for each purpose. `note` tells what their answers mean. */
  readonly steps?: readonly {
    readonly purpose: string;
    readonly rest: string;
    readonly graphql: string;
    readonly note?: string;
  }[];
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** `5 December 2030` */
export function longDay(date: Date): string {
  // Not toLocaleDateString, which loads the calendars of all locales and so makes the start slower.
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}

/** The headers of a deprecated operation: Deprecation (RFC 9745), Sunset (RFC 8594), and Link to what is below the path `root`. */
export function deprecationHeaders({ since, sunset, replacement }: Deprecation, root = ''): Record<string, string> {
  return {
    Deprecation: `@${since.getTime() / 1000}`,
    Sunset: sunset.toUTCString(),
    Link: `<${root}${replacement.restPath}>; rel="successor-version", <${root}/docs#deprecations>; rel="deprecation"; type="text/html"`,
  };
}
