import { createRequire } from 'node:module'
import { StartError } from './start-error.js'

/** A dependency of which inner members are used, and its one version in package.json (docs/decisions/053). */
export interface InnerPackage {
  readonly name: string
  readonly tested: string
}

type KindOf<Member> = Member extends ((...args: never[]) => unknown) | (abstract new (...args: never[]) => unknown)
  ? 'function'
  : Member extends number
    ? 'number'
    : 'object'

/**
 * Inner members of one kind of object of a dependency: those that neither its types nor its documentation promise. `Inner` is
 * the type by which they are reached, and the list has each of its members. So a member that is not probed does not compile.
 */
export class InnerMembers<Inner extends object> {
  readonly #kinds: readonly (readonly [name: string, kind: unknown])[]

  constructor(kinds: { readonly [Name in keyof Inner]-?: KindOf<NonNullable<Inner[Name]>> }) {
    this.#kinds = Object.entries(kinds)
  }

  /** The object by its inner members. Call `missingIn` once before. */
  of(object: object): Inner {
    return object as Inner
  }

  /** The names of the members that an object lacks, or has in another kind. */
  missingIn(object: unknown): readonly string[] {
    const isObject = (typeof object === 'object' && object !== null) || typeof object === 'function'
    const kindOf = (name: string): unknown => {
      const member: unknown = isObject ? Reflect.get(object, name) : undefined
      return member === null ? 'null' : typeof member
    }
    return this.#kinds.filter(([name, kind]) => kindOf(name) !== kind).map(([name]) => name)
  }
}

/** A dependency that is not as it was tested: it has another version, or lacks inner members. */
export interface Untested {
  readonly package: string
  readonly installed: string
  readonly tested: string
  readonly missing: readonly string[]
}

/** undefined for a dependency that is as it was tested. */
export function untested(
  of: InnerPackage,
  missing: readonly string[],
  installed = installedVersion(of)
): Untested | undefined {
  if (missing.length === 0 && installed === of.tested) return undefined
  return { package: of.name, installed, tested: of.tested, missing }
}

/** A sentence without its end: what is installed, and what was tested. */
export function whatIsUntested({ package: name, installed, tested, missing }: Untested): string {
  const lacks = missing.length === 0 ? '' : `, which lacks ${missing.join(', ')}`
  return `${name} ${installed} is installed${lacks}; ${tested} is the version that was tested`
}

/** What an operator does about it. */
export function remedyFor({ package: name, tested }: Untested): string {
  return `Install ${name} ${tested}: \`npm ls ${name}\` shows what asks for another version.`
}

/** Throws a StartError for missing members of a dependency that has no other way to the same. */
export function requireInner(of: InnerPackage, missing: readonly string[]): void {
  const found = missing.length === 0 ? undefined : untested(of, missing)
  if (found !== undefined) throw new StartError(`${whatIsUntested(found)}. ${remedyFor(found)}`)
}

export function installedVersion({ name }: InnerPackage): string {
  const manifest: unknown = createRequire(import.meta.url)(`${name}/package.json`)
  const version =
    typeof manifest === 'object' && manifest !== null && 'version' in manifest ? manifest.version : undefined
  return typeof version === 'string' ? version : 'unknown'
}
