import type { Deprecation } from '../deprecations.ts';

/** The headers of a deprecated operation: Deprecation (RFC 9745), Sunset (RFC 8594), and Link to replacement and documentation. */
export function deprecationHeaders({ since, sunset, replacement }: Deprecation): Record<string, string> {
  return {
    Deprecation: `@${since.getTime() / 1000}`,
    Sunset: sunset.toUTCString(),
    Link: `<${replacement.restPath}>; rel="successor-version", </docs#deprecations>; rel="deprecation"; type="text/html"`,
  };
}
