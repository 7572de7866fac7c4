/** What is deprecated, with its dates: the one record of it that headers, documents and reports are derived from. */
export interface Deprecation {
  /** The GraphQL coordinate, `Type.field`; a REST operation whose document touches it is deprecated with it. */
  readonly coordinate: string;
  /** When it became deprecated. */
  readonly since: Date;
  /** When it will be removed. */
  readonly sunset: Date;
  /** What to use instead, in words. */
  readonly replacement: { readonly graphql: string; readonly rest: string; readonly restPath: string };
}

/** The deprecation of a GraphQL coordinate among those of a service, if it has one. */
export function deprecationOf(deprecations: readonly Deprecation[], coordinate: string): Deprecation | undefined {
  return deprecations.find((deprecation) => deprecation.coordinate === coordinate);
}

const MONTHS = 'January February March April May June July August September October November December'.split(' ');

/** `5 December 2030` */
export function longDay(date: Date): string {
  // Not toLocaleDateString: it loads the world's calendars, a twentieth of what a start costs.
  return `${date.getUTCDate()} ${MONTHS[date.getUTCMonth()]} ${date.getUTCFullYear()}`;
}
