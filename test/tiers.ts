import { readdirSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { type DebianPackage, Failure } from './runner/programs.js'

/**
 * When a test file runs. `quick`: before each commit, without a database server, a browser, or anything to install. `full`:
 * everything that the contract promises, on both databases. `soak`: for hours, or with what is large to install. `compose`:
 * with containers. `npm test` runs quick and full; `npm run soak` runs soak, and LONGER_IN_SOAK once more.
 */
export type Tier = 'quick' | 'full' | 'soak' | 'compose'

/** The tier of each test file: that of the longest entry that its path begins with. A file without an entry is in `full`. */
const TIERS: Readonly<Record<Tier, readonly string[]>> = {
  quick: [
    'test/bench/',
    'test/campaign/checkers/',
    'test/campaign/watch.test.ts',
    'test/cli/dot-env.test.ts',
    'test/cli/init.test.ts',
    'test/cli/sample.test.ts',
    'test/clients/admin-words.test.ts',
    'test/data-service/auth/key-set.test.ts',
    'test/data-service/auth/passwords.test.ts',
    'test/data-service/auth/tokens.test.ts',
    'test/data-service/config.test.ts',
    'test/data-service/entity/',
    'test/data-service/plan/',
    'test/data-service/purge-expired.test.ts',
    'test/data-service/sql/database-url.test.ts',
    'test/data-service/sql/passing-errors.test.ts',
    'test/schema/needed-rights.test.ts',
    'test/schema/released-statements.test.ts',
    'test/data-service/typed-services/translation.test.ts',
    'test/examples/storefront/',
    'test/fitness/',
    'test/gateway/config.test.ts',
    'test/gateway/entity-routes/random-import-files.test.ts',
    'test/gateway/data/catalogue-changes.test.ts',
    'test/gateway/http/',
    'test/gateway/key-ring/',
    'test/gateway/openapi/judged-document.test.ts',
    'test/gateway/session/antiforgery-check.test.ts',
    'test/gateway/session/antiforgery-tokens.test.ts',
    'test/gateway/session/private-cookies.test.ts',
    'test/package/release-version.test.ts',
    'test/readme/log-line.test.ts',
    'test/shared/'
  ],
  full: [
    'test/campaign/checkers/json.test.ts',
    'test/fitness/explained-reads.test.ts',
    'test/fitness/linear-readers.test.ts',
    'test/gateway/http/client-address.test.ts',
    'test/gateway/http/header-bytes.test.ts',
    'test/gateway/key-ring/blob-store.test.ts',
    'test/gateway/key-ring/vault-encryption.test.ts',
    'test/shared/call-stream.test.ts',
    'test/shared/lifecycle.test.ts'
  ],
  soak: [
    // The browser takes most of their time. In their place, test/browser/admin.test.ts filters by one condition, saves
    // a date with a time, lists the rows of one owner, deletes, acts on and saves one row, and works by keyboard.
    // purchase.test.ts checks a page of the documentation and finds a product by its name.
    // test/api/sign-in/ signs in at a provider without a browser. test/clients/react-admin.test.ts sends the admin's requests.
    'test/browser/admin-dates.test.ts',
    'test/browser/admin-lists.test.ts',
    'test/browser/admin-owners.test.ts',
    'test/browser/admin-rows.test.ts',
    'test/browser/admin-walk.test.ts',
    'test/browser/docs-pages.test.ts',
    'test/browser/outside-sign-in.test.ts',
    'test/browser/product-search.test.ts',
    // It starts two targets in processes; the rest of test/bench/ holds each part of a measurement to what it must say.
    'test/bench/smoke.test.ts',
    // test/campaign/check.test.ts judges histories with and without a wrong answer, run.test.ts runs without faults,
    // local-databases.test.ts has what needs no server, and planted-texts.test.ts holds that each planted fault finds its text.
    'test/campaign/campaign.test.ts',
    'test/campaign/databases.test.ts',
    'test/campaign/every-fault.test.ts',
    'test/campaign/plants.test.ts',
    'test/campaign/replay.test.ts',
    // It follows the page in a copy of the project, and compiles it; test/package/linked.test.ts adds an entity to an application.
    'test/examples/every-entity/adding-an-entity.test.ts',
    // It tests the tests of every entity. test/examples/every-entity/mariadb.test.ts judges the store by rules.ts, which is
    // written by hand, and the tests of test/api/ have a caller without each right.
    'test/examples/every-entity/deleted-rules.test.ts',
    // It repeats on SQLite what mariadb.test.ts does.
    'test/examples/every-entity/sqlite.test.ts',
    // test/package/linked.test.ts has `dev` of an application, which restarts after a change of a file.
    'test/readme/dev-restart.test.ts',
    // Each package that is missing is a start of its own; test/data-service/main.test.ts holds that a wrong setting is named.
    'test/package/optional-packages.test.ts',
    // It installs from the registry; test/package/linked.test.ts does the same without.
    'test/package/pack-and-install.test.ts',
    // It installs a registry of 100 MB; test/package/release-version.test.ts has the version and the changelog.
    'test/package/release.test.ts',
    // Three nodes of a database are long in joining; test/compose/containers.test.ts has the rest of the page.
    'test/compose/galera.test.ts',
    // Tools of hundreds of megabytes; test/gateway/openapi/ holds the document to the OpenAPI schema, and the tests of
    // test/api/ with `also: ['document']` each exchange to the document.
    'test/openapi/linters-and-clients.test.ts',
    'test/openapi/validating-proxy.test.ts',
    // Each file names what `full` has in its place.
    'test/rolling/',
    'test/soak/'
  ],
  compose: ['test/compose/']
}

/** Files of `full` that `npm run soak` runs too. They do more there, where IN_SOAK is set. */
const LONGER_IN_SOAK = [
  'test/api/mcp/tools.test.ts',
  'test/clients/store.test.ts',
  'test/clients/react-admin.test.ts',
  'test/cli/application.test.ts',
  'test/api/allowed-calls.test.ts',
  'test/api/cursors.test.ts',
  'test/api/export-streaming.test.ts',
  'test/api/hidden-column.test.ts',
  'test/api/include-ceilings.test.ts',
  'test/api/ownership/shopping-carts.test.ts',
  'test/api/sessions/accounts.test.ts',
  'test/api/statement-texts.test.ts',
  'test/api/writes/random-imports.test.ts',
  'test/browser/admin.test.ts',
  'test/browser/purchase.test.ts',
  'test/browser/session.test.ts',
  'test/cli/rejected-statements.test.ts',
  'test/data-service/operations/csv.test.ts',
  'test/examples/clinic/every-entity.test.ts',
  'test/examples/every-entity/mariadb.test.ts',
  'test/examples/one-entity/every-entity-messages.test.ts',
  'test/examples/one-entity/every-entity.test.ts',
  'test/examples/sakila/every-entity.test.ts',
  'test/examples/sakila/load.test.ts',
  'test/examples/sample/load-more.test.ts',
  'test/faults/even-spread.test.ts',
  'test/faults/grpc-fuzz.test.ts',
  'test/faults/http/http-fuzz.test.ts',
  'test/faults/http2-fuzz.test.ts',
  'test/faults/replicas.test.ts',
  'test/large-rows/large-rows.test.ts',
  'test/faults/untested-packages.test.ts',
  'test/faults/writes/killed-database.test.ts',
  'test/fitness/linear-readers.test.ts',
  'test/foreign-tables/foreign-tables.test.ts',
  'test/gateway/entity-routes/random-import-files.test.ts',
  'test/gateway/key-ring/blob-store.test.ts',
  'test/schema/introspect/other-texts.test.ts',
  'test/schema/introspect/wide-decimals.test.ts',
  'test/schema/migrate.test.ts',
  'test/keyed/every-entity.test.ts',
  'test/library/every-entity.test.ts',
  'test/library/every-type.test.ts',
  'test/library/exact-scopes.test.ts',
  'test/library/random-row-scopes.test.ts',
  'test/library/webhooks.test.ts',
  'test/library/write-scopes.test.ts',
  'test/readme/start-settings.test.ts'
]

/** What has to be installed for files whose path begins so, unless they are in `quick`. */
const PACKAGES: Readonly<Record<string, readonly DebianPackage[]>> = {
  'test/browser/': ['chromium-headless-shell'],
  'test/campaign/': ['libfaketime'],
  'test/compose/': ['docker.io', 'docker-compose', 'mmdebstrap'],
  'test/grpc-clients/': [
    'libprotobuf-dev',
    'protobuf-compiler',
    'protobuf-compiler-grpc',
    'python3-grpcio',
    'python3-protobuf'
  ],
  'test/readme/': ['jq'],
  'test/rolling/': ['haproxy'],
  'test/soak/galera.test.ts': ['galera-4', 'rsync']
}

/** Folders whose files meet the speed of the machine by their nature. A file that passes alone leaves the run green there. */
const MAY_BE_FLAKY = ['test/browser/', 'test/campaign/', 'test/faults/', 'test/rolling/']

/** Files that take longest. They begin first, because one that began last would end alone. */
export const LONGEST: ReadonlySet<string> = new Set([
  'test/browser/admin.test.ts',
  'test/browser/docs-pages.test.ts',
  'test/campaign/campaign.test.ts',
  'test/campaign/every-fault.test.ts',
  'test/examples/every-entity/deleted-rules.test.ts',
  'test/examples/every-entity/mariadb.test.ts',
  'test/examples/sakila/every-entity.test.ts',
  'test/faults/writes/killed-service.test.ts',
  'test/fitness/linear-readers.test.ts',
  'test/schema/introspect/introspect.test.ts',
  'test/library/every-entity.test.ts',
  'test/library/outbox.test.ts',
  'test/openapi/linters-and-clients.test.ts',
  'test/package/linked.test.ts',
  'test/rolling/rolling-upgrade.test.ts'
])

/** Files with which the runner itself is tested. They fail, so they run only where a filter names their folder. */
const SAMPLES = 'test/runner/samples/'

const root = fileURLToPath(new URL('../../', import.meta.url))

/**
 * The test files of the tiers, as `test/api/paged.test.ts`; with filters those of any tier whose path holds one of them.
 * They come from the sources, so that what is compiled of a deleted test does not run. Throws a Failure where there is no
 * such file, and for an entry of this file that names nothing.
 */
export function testFiles(tiers: readonly Tier[], filters: readonly string[] = []): string[] {
  const sources = readdirSync(`${root}test`, { recursive: true, encoding: 'utf8' })
    .map((path) => `test/${path}`)
    .filter((path) => path.endsWith('.ts'))
    .toSorted()
  // Fixtures have tests of their own, which run in copies of theirs.
  const all = sources.filter((path) => path.endsWith('.test.ts') && !path.startsWith('test/fixtures/'))
  const entries = Object.values(TIERS).flat()
  for (const entry of [...entries, ...LONGER_IN_SOAK, ...Object.keys(PACKAGES), ...LONGEST, ...MAY_BE_FLAKY]) {
    if (all.some((file) => file.startsWith(entry))) continue
    throw new Failure(`test/tiers.ts lists ${entry}: there is no such test.`)
  }
  if (filters.length === 0) {
    const longer = tiers.includes('soak') ? LONGER_IN_SOAK : []
    return all.filter((file) => tiers.includes(tierOf(file)) || longer.some((entry) => file.startsWith(entry)))
  }
  const names = filters.map((one) => one.replace(/^\.\//, '').replace(/\.js$/, '.ts'))
  const asksForSamples = names.some((name) => name.includes(SAMPLES))
  const found = (asksForSamples ? sources.filter((path) => path.startsWith(SAMPLES)) : all).filter((file) =>
    names.some((name) => file.includes(name))
  )
  if (found.length === 0) throw new Failure(`No test file's path holds ${filters.join(' or ')}.`)
  return found
}

export function tierOf(file: string): Tier {
  let best: { readonly tier: Tier; readonly entry: string } = { tier: 'full', entry: '' }
  for (const tier of ['quick', 'full', 'soak', 'compose'] as const) {
    for (const entry of TIERS[tier]) {
      if (file.startsWith(entry) && entry.length > best.entry.length) best = { tier, entry }
    }
  }
  return best.tier
}

/** Whether the tests of the file run on MariaDB too. */
export function needsServer(file: string): boolean {
  return !['quick', 'compose'].includes(tierOf(file))
}

/** What has to be installed for the files. */
export function packagesFor(files: readonly string[]): DebianPackage[] {
  const isServed = process.env['TEST_MYSQL_URL'] !== undefined || !files.some(needsServer)
  const slow = files.filter((file) => tierOf(file) !== 'quick')
  const found = Object.entries(PACKAGES).filter(([entry]) => slow.some((file) => file.startsWith(entry)))
  return [...(isServed ? [] : (['mariadb-server'] as const)), ...found.flatMap(([, packages]) => packages)]
}

/** Whether the run stays green where the file fails among others and passes alone. */
export function mayBeFlaky(file: string): boolean {
  return [...MAY_BE_FLAKY, `${SAMPLES}may-be-flaky`].some((entry) => file.startsWith(entry))
}
