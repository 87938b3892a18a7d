import { addIndexes, type Migration } from 'uniform-rest'

export const migration: Migration = {
  name: '059-find-events-by-words',
  steps: [addIndexes('events', (t) => [t.fullText('title')])]
}
