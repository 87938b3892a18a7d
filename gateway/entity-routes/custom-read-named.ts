import type { CustomRead, Resource } from '../data-calls.js'

/** One of the resource's own reads, where it has one of this name. */
export function customReadNamed(resource: Resource | undefined, name: string | undefined): CustomRead | undefined {
  return resource?.reads.find((read) => read.name === name)
}
