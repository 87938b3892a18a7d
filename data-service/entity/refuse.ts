/** An action's own no, decided within its transaction, which is rolled back. */
export type Refusal = StateRefusal | InputRefusal | ConflictRefusal

/** 422 `state.invalid`. */
export interface StateRefusal {
  readonly refusal: 'state'
  readonly detail: string
}

/** 400 `body.invalid` at a member of the body. */
export interface InputRefusal {
  readonly refusal: 'input'
  /** JSON pointer (RFC 6901), `/lines/0/productId`. */
  readonly pointer: string
  readonly detail: string
}

/** A conflict the action built itself: on a guarded write 412 with all of this kept (contract.md section 5). */
export interface ConflictRefusal {
  readonly refusal: 'conflict'
  readonly title: string
  readonly detail: string
  /** At most 512 bytes as JSON. */
  readonly members: Readonly<Record<string, string | number | boolean>>
}

export const refuse = {
  state: (detail: string): StateRefusal => ({ refusal: 'state', detail }),
  input: (pointer: string, detail: string): InputRefusal => ({ refusal: 'input', pointer, detail }),
  conflict: (
    title: string,
    detail: string,
    members: Readonly<Record<string, string | number | boolean>> = {}
  ): ConflictRefusal => ({ refusal: 'conflict', title, detail, members })
}
