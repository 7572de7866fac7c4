import type { Deprecation } from '../deprecations.ts';

/** RFC 9745 and RFC 8594: since when, until when, what instead, and where it is written. */
export function deprecationHeaders({ since, sunset, replacement }: Deprecation): Record<string, string> {
  return {
    Deprecation: `@${since.getTime() / 1000}`,
    Sunset: sunset.toUTCString(),
    Link: `<${replacement.restPath}>; rel="successor-version", </docs>; rel="deprecation"; type="text/html"`,
  };
}
