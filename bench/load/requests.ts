/** What the connections of a round send; plain data, since the generator is another process. */
export type Requests = Reads | Creates | Updates

export interface Reads {
  readonly kind: 'read'
  /** Each connection takes the next one when its answer is complete. */
  readonly paths: readonly string[]
}

/** `POST /products`, each with a key and a product of its own. */
export interface Creates {
  readonly kind: 'create'
  readonly token: string
  /** Starts every key and every SKU, which must be unlike those of other rounds. */
  readonly round: string
  readonly categories: readonly number[]
}

/** `PUT /products/{id}`, each with the tag of the answer before. */
export interface Updates {
  readonly kind: 'update'
  readonly token: string
  /** Dealt out among the connections, so that no two of them write the same row. */
  readonly rows: readonly ProductToUpdate[]
}

export interface ProductToUpdate {
  readonly id: number
  readonly sku: string
  readonly categoryId: number
  /** As it is when the round starts. */
  readonly etag: string
}
