import type { Entity } from '../../entity/entity.js'
import { idText, keyed } from '../../entity/key.js'
import type { PlannedNavigations, RowsPlan } from '../../plan/model/plans.js'
import type { LoadedChild, LoadedRow } from '../../plan/model/stores.js'
import type { ReadSession } from '../engines/sessions.js'
import type { FoundRow } from '../engines/statement.js'
import { type Collection, loadChildren, loadLinked } from './collections.js'
import { type IncludedRows, unlessTooLarge } from './included-rows.js'
import {
  foundBy,
  keyPaths,
  type KeyReaderOf,
  loadReferenced,
  NOTHING_LOADED,
  referencePaths,
  RowOfPage,
  type Source
} from './navigations.js'

/** Finds the navigation's rows of a row. */
type Finder<Found> = (row: FoundRow) => Found

/** Rows that were found, whose navigations are to be loaded. */
interface RowsOf {
  readonly entity: Entity
  readonly navigations: PlannedNavigations & Pick<RowsPlan, 'askedBy'>
  readonly rows: readonly FoundRow[]
  /** Those of them that the answer has shown before: what they include is loaded once and written again. */
  readonly repeated: readonly FoundRow[]
  readonly keyOf: KeyReaderOf
  /** Number of columns of the projection, which come first. */
  readonly shown: number
}

/** The answer that they are loaded for. */
interface Answer {
  readonly included: IncludedRows
  /** Rows that are read for several answers at once are read again for each, where they are too large together. */
  readonly isOfSeveral: boolean
}

const BY_FLAGS = { references: 'includeFKs', collections: 'includeChildren' } as const

/** The navigations of some rows, loaded one after another, and those of the rows that they lead to. */
export class RowNavigations {
  readonly #of: RowsOf
  readonly #answer: Answer
  readonly #references = new Map<string, Finder<LoadedRow | null>>()
  readonly #manyToMany = new Map<string, Finder<Collection<LoadedRow>>>()
  readonly #children = new Map<string, Finder<Collection<LoadedChild>>>()
  readonly #within: RowNavigations[] = []

  constructor(of: RowsOf, answer: Answer) {
    this.#of = of
    this.#answer = answer
  }

  /** Loads what is in the first database. */
  async load(session: ReadSession, source: Source): Promise<void> {
    await this.#loadReferences(session, source)
    await this.#loadManyToMany(session, source)
    await this.#loadChildren(session, source, 'primary')
    for (const one of this.#within) await one.load(session, source)
  }

  /** Whether there is something to load from the second one. */
  get needsSecond(): boolean {
    const { navigations, rows } = this.#of
    const hasOwn = rows.length > 0 && navigations.children.some(({ children }) => children.store === 'second')
    return hasOwn || this.#within.some((one) => one.needsSecond)
  }

  async loadSecond(session: ReadSession, source: Source): Promise<void> {
    await this.#loadChildren(session, source, 'second')
    for (const one of this.#within) await one.loadSecond(session, source)
  }

  loaded(row: FoundRow): LoadedRow {
    const references = foundFor(row, this.#references)
    const [manyToMany, children] = [foundFor(row, this.#manyToMany), foundFor(row, this.#children)]
    return new RowOfPage(row, this.#of.shown, {
      references,
      manyToMany: rowsByName(manyToMany),
      children: rowsByName(children),
      truncated: [...truncatedRows(references), ...truncatedNames(manyToMany), ...truncatedNames(children)]
    })
  }

  async #loadReferences(session: ReadSession, source: Source): Promise<void> {
    const { rows, navigations } = this.#of
    for (const planned of navigations.references) {
      const { reference, target, within } = planned
      const keyOf = this.#of.keyOf(referencePaths(reference, target))
      const parameter = (navigations.askedBy ?? BY_FLAGS).references
      const loading = loadReferenced(session, source, {
        planned,
        keys: rows.map(keyOf),
        included: this.#answer.included,
        parameter
      })
      const { found, keyOf: innerKeyOf } = await this.#unlessTooLarge(parameter, loading)
      const find = (row: FoundRow): FoundRow | undefined => foundBy(found, keyOf(row))
      const show = this.#showing(planned, {
        entity: target,
        navigations: within,
        rows: within === undefined ? [] : rows.flatMap((row) => find(row) ?? []),
        keyOf: innerKeyOf
      })
      this.#references.set(reference.name, (row) => {
        const values = find(row)
        return values === undefined ? null : show(values)
      })
    }
  }

  async #loadManyToMany(session: ReadSession, source: Source): Promise<void> {
    const { entity, rows, navigations } = this.#of
    if (navigations.manyToMany.length === 0) return
    const keyOf = this.#of.keyOf(keyPaths(entity))
    const keys = rows.map(keyOf)
    for (const planned of navigations.manyToMany) {
      const { name, target } = planned.navigation
      const parameter = (navigations.askedBy ?? BY_FLAGS).collections
      const { included } = this.#answer
      const loading = loadLinked(session, source, { owner: keyed(entity), planned, keys, included, parameter })
      const { found, keyOf: innerKeyOf } = await this.#unlessTooLarge(parameter, loading)
      const find = (row: FoundRow): Collection<FoundRow> => foundBy(found, keyOf(row)) ?? EMPTY_COLLECTION
      const show = this.#showing(planned, {
        entity: target,
        navigations: planned.within,
        rows: planned.within === undefined ? [] : rows.flatMap((row) => find(row).rows),
        keyOf: innerKeyOf
      })
      await this.#addCollection(this.#manyToMany, name, (row) => {
        const { rows: linked, truncated } = find(row)
        const shown = linked.map(show)
        return { rows: shown, truncated: [...truncated, ...new Set(shown.flatMap((one) => within(name, one)))] }
      })
    }
  }

  async #loadChildren(session: ReadSession, source: Source, store: 'primary' | 'second'): Promise<void> {
    const { entity, rows, navigations } = this.#of
    const which = navigations.children.filter(({ children }) => children.store === store)
    if (which.length === 0) return
    const keyOf = this.#of.keyOf(keyPaths(entity))
    const keys = rows.map(keyOf)
    for (const planned of which) {
      const parameter = (navigations.askedBy ?? BY_FLAGS).collections
      const { included } = this.#answer
      const loading = loadChildren(session, source, { owner: keyed(entity), planned, keys, included, parameter })
      const found = await this.#unlessTooLarge(parameter, loading)
      await this.#addCollection(
        this.#children,
        planned.children.name,
        (row) => foundBy(found, keyOf(row)) ?? EMPTY_COLLECTION
      )
    }
  }

  /** How the found rows are shown: with navigations of their own, which are loaded later, or without. */
  #showing(
    { projection }: { readonly projection: RowsPlan['projection'] },
    {
      navigations,
      ...found
    }: Omit<RowsOf, 'shown' | 'repeated' | 'navigations'> & {
      readonly navigations: PlannedNavigations | undefined
    }
  ): (row: FoundRow) => LoadedRow {
    const shown = projection.selected.length
    if (navigations === undefined) return (row) => new RowOfPage(row, shown)
    const askedBy = { references: 'include', collections: 'include' } as const
    const of = { ...found, shown, navigations: { ...navigations, askedBy }, repeated: repeatedIn(found) }
    const inner = new RowNavigations(of, this.#answer)
    this.#within.push(inner)
    return (row) => inner.loaded(row)
  }

  /** Rows that several others lead to are written with what they include each time. */
  async #addCollection<Row extends LoadedRow | LoadedChild>(
    collections: Map<string, Finder<Collection<Row>>>,
    name: string,
    find: Finder<Collection<Row>>
  ): Promise<void> {
    const { included } = this.#answer
    const counting = async (): Promise<void> => {
      for (const row of this.#of.repeated) included.repeatRows(find(row).rows)
      return Promise.resolve()
    }
    // Only `include` shows collections within rows that are repeated.
    if (this.#of.repeated.length > 0) await this.#unlessTooLarge('include', counting())
    collections.set(name, find)
  }

  #unlessTooLarge<Read>(parameter: Parameters<typeof unlessTooLarge>[0], loading: Promise<Read>): Promise<Read> {
    return this.#answer.isOfSeveral ? loading : unlessTooLarge(parameter, loading)
  }
}

/** Rows with the key of a row before them. */
function repeatedIn({ entity, rows, keyOf }: Pick<RowsOf, 'entity' | 'rows' | 'keyOf'>): FoundRow[] {
  const read = keyOf(keyPaths(entity))
  const seen = new Set<string>()
  return rows.filter((row) => {
    const { size } = seen
    const key = read(row)
    return key !== undefined && seen.add(idText(key)).size === size
  })
}

const EMPTY_COLLECTION: Collection<never> = { rows: [], truncated: [] }

function foundFor<Found>(row: FoundRow, finders: ReadonlyMap<string, Finder<Found>>): ReadonlyMap<string, Found> {
  if (finders.size === 0) return NOTHING_LOADED
  return new Map([...finders].map(([name, find]) => [name, find(row)]))
}

function rowsByName<Row>(collections: ReadonlyMap<string, Collection<Row>>): ReadonlyMap<string, readonly Row[]> {
  if (collections.size === 0) return NOTHING_LOADED
  return new Map(Array.from(collections, ([name, { rows }]) => [name, rows]))
}

function truncatedNames(collections: ReadonlyMap<string, Collection<unknown>>): readonly string[] {
  return Array.from(collections.values()).flatMap(({ truncated }) => truncated)
}

function truncatedRows(references: LoadedRow['references']): readonly string[] {
  return Array.from(references).flatMap(([name, row]) => (row === null ? [] : within(name, row)))
}

/** The collections that are cut in a row, by their names after that of the navigation that leads to it. */
function within(name: string, { truncated }: LoadedRow): readonly string[] {
  return truncated.map((one) => `${name}.${one}`)
}
