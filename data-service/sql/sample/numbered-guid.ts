/** What guids of sample rows begin with, and those that the service makes (version 4, random) never do. */
export const NUMBERED_GUIDS = '00000000-0000-4000-8000-'

/** The guid of the sample row with the number: the same each time, in the order of the numbers. */
export function numberedGuid(number: number): string {
  return NUMBERED_GUIDS + number.toString(16).padStart(12, '0')
}

/** The number that numberedGuid was given. */
export function numberOfGuid(guid: string): number {
  return Number.parseInt(guid.slice(NUMBERED_GUIDS.length), 16)
}
