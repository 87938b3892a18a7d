/**
 * The versions of what other teams build on, each a semantic version of its own (docs/versions.md). That of the package is in
 * package.json.
 */
export const VERSIONS = {
  /** HTTP: what clients of the gateway rely on. Major and minor are what `api-supported-versions` says. */
  contract: '1.0.0',
  /** gRPC: the packages of proto/. The major is the `v1` in their names. */
  proto: '1.2.0',
  /** What entity files, migrations, `uniform-rest.config.ts` and tests import. */
  vocabulary: '1.1.0'
} as const
