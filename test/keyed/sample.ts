import type { SampleAggregate } from 'uniform-rest'

// Rows whose keys are hard: other letters, commas and slashes within parts, the largest number.

export const COPY = '0b5a4f1e-6d0f-4a77-9c1a-3f2f6a1c0d5e'
export const MOST = '18446744073709551615'
export const CODE = 'Île, 50% /é'

function shelf(number: number, checks: readonly string[], lines: readonly string[]): SampleAggregate {
  return {
    root: { room: 'a,b/c%', countryId: CODE, number, openedOn: '2024-02-29', label: `Shelf ${number}`, pieces: 0 },
    children: {
      checks: checks.map((remark, at) => ({ run: at + 1, remark })),
      lines: lines.map((text, at) => ({ line: at + 1, text }))
    }
  }
}

export function sampleRows(): ReadonlyMap<string, readonly SampleAggregate[]> {
  return new Map<string, readonly SampleAggregate[]>([
    [
      'countries',
      [
        { root: { id: CODE, name: 'Island' }, children: { notes: [{ id: COPY, text: 'of the island' }] } },
        { root: { id: 'x'.repeat(500), name: 'Longest' } }
      ]
    ],
    ['holidays', [{ root: { id: '2024-02-29', name: 'Leap day' } }]],
    ['grades', [{ root: { id: 'High', note: 'High grade' } }, { root: { id: 'low', note: 'Low grade' } }]],
    [
      'tickets',
      [
        { root: { id: MOST, day: '2024-02-29', grade: 'High', note: 'The last' } },
        { root: { id: '7', day: null, grade: 'low', note: 'Seven' } }
      ]
    ],
    ['shelves', [shelf(-5, ['dusty', 'clean'], ['first', 'second']), shelf(7, [], ['third'])]],
    [
      'placements',
      [
        {
          root: {
            copy: COPY,
            serial: MOST,
            shelfCountry: CODE,
            shelfRoom: 'a,b/c%',
            shelfNumber: -5,
            shelfDay: '2024-02-29',
            remark: 'here'
          }
        },
        {
          root: {
            copy: COPY,
            serial: '7',
            shelfCountry: null,
            shelfRoom: null,
            shelfNumber: null,
            shelfDay: null,
            remark: 'nowhere'
          }
        }
      ]
    ]
  ])
}
