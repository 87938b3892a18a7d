/**
 * What the generated types say about a resource. `uniform-rest client-types` writes one for each; a member that a resource
 * does not have is `never`.
 */
export interface ResourceTypes {
  /** The id in paths. */
  readonly id: string | number
  /** A row as reads and writes answer it. */
  readonly row: object
  /** What `includeFKs` adds to it, and `include` by name. */
  readonly references: object
  /** What `includeChildren` adds to it, and `include` by name. */
  readonly children: object
  /** What `include` adds to the rows of each navigation, by its name. Types that were written before it have none. */
  readonly includes?: object
  /** The type of the values and the operators of each property that filters take. */
  readonly filters: object
  /** The properties that rows can be sorted by. */
  readonly sort: string
  /** The properties that `fields` takes. */
  readonly fields: string
  /** What rows are grouped by and what is computed of them, by name; absent for a resource without totals. */
  readonly totals?: { readonly dimensions: object; readonly measures: object }
  /** Set where the resource has a history. */
  readonly history?: true
  /** `string` where the resource has searchable properties. */
  readonly search: string
  /** The values of each unique property that names rows. */
  readonly by?: object
  /** Those of them by which a PUT names its row. */
  readonly replaceBy?: object
  /** The owner parameter. */
  readonly parameters: object
  /** The body of a create. */
  readonly create: unknown
  /** The body of a PUT. */
  readonly replace: unknown
  /** The body of a PATCH. */
  readonly patch: unknown
  /** The id of a row that can be deleted. */
  readonly delete: unknown
  /** The bodies of its actions, by name. */
  readonly actions: object
  /** Its own reads, by name: their parameters and the items that they answer. */
  readonly reads: object
}

/** What the generated types say about an operation of the application beside its resources. */
export interface OperationTypes {
  /** Parameters of the path. */
  readonly path: object
  readonly query: object
  readonly body: unknown
  readonly answer: unknown
}

/** What the generated types say about an application. Operations are named by method and path: `GET /reports/stock`. */
export interface ApplicationTypes {
  readonly resources: object
  readonly operations: object
}
