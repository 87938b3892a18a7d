const DAY = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium' })
const MOMENT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'short' })

export function dayText(at: string): string {
  return DAY.format(new Date(at))
}

export function momentText(at: string): string {
  return MOMENT.format(new Date(at))
}
