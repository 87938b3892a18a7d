import { faultsSections } from './faults.js'
import { answerOf, promisesTable } from './promises.js'
import { topologiesTable, topologySection } from './topologies.js'
import { isTried, type Report } from './verdict.js'

/** docs/reliability.md, which reads from the top: the answer, what was tried, what that does not say, how it works. */
export function pageOf(reports: readonly Report[], notes: string): string {
  const tried = reports.filter(isTried)
  return [
    '# Reliability',
    answerOf(tried),
    '',
    'A topology is two or more gateways and data services of the example store over one database. Clients of many kinds work on it all the time, with short rests between their requests, while parts of it are broken at random moments, one or two at a time, and mended. Every request and every answer is written down, and checkers that know nothing of the code hold them, and the rows that are left, to the [contract](spec/contract.md).',
    '',
    '## What was tried',
    ...topologiesTable(reports),
    WITHOUT_ANSWER,
    '',
    '## Promises',
    'A name such as `counters` is that of a group of clients in `campaign/workload/`. The column of a topology counts how often the promise was put to the test there, and, where it was broken, how often. A promise that nothing has tried fails the run.',
    '',
    ...promisesTable(tried),
    '',
    LIMITS,
    '',
    HOW_IT_WORKS,
    '',
    '## Faults',
    'Each number is how often the fault was injected; after the slash, how many connections, statements or answers it hit: a cut waits for what it is to cut, and may wait in vain. A dash: there is no such fault on this topology, or the campaign did not have it yet. A neighbour is a blob store, a key vault or a renderer beside the gateways.',
    '',
    ...faultsSections(tried),
    '## Each topology',
    'How long each gateway took, from the moment at which the last fault was mended, until it was ready, answered a read and a write, and accepted a form of a page that another gateway had made, which takes the same [key ring](key-ring.md) in both; the memory of each process, and for how long nothing was broken that it hears of, so that each error that it logged would have been a finding.',
    '',
    ...tried.flatMap(topologySection),
    notes
  ].join('\n')
}

const WITHOUT_ANSWER = `A request is without an answer because the campaign has cut or refused its connection, frozen or killed the gateway that had it, or kept it waiting for 40 seconds. The client does not know then whether a write was done. It does what the contract is made for: it sends the same request with the same \`Idempotency-Key\` again, through any gateway, and is answered what the first request had come to. Whether a write without an answer was done is settled by the [audit trail](trail.md), and it must have been done once at most.`

const LIMITS = `## What these figures do not say
- **No power was cut.** SIGKILL leaves what a process has written in the hands of the kernel. A disk or a machine that forgets what it had confirmed was not tried; what the database makes of it depends on its own settings.
- **It is one machine.** Processes, databases and clients share its processors and its clock. Networks are the loopback device, and for Galera namespaces of the kernel. Latency between sites, packets that get lost at random and clocks that differ between machines were not tried; the clock of the database was set off on a single MariaDB alone.
- **It is not a load test.** Some twenty clients wait between their requests. [Performance](performance.md) and [scaling](scaling.md) are about load.
- **The store is small.** Its tables begin with few rows, and a run adds some hundred thousand at most.
- **Nothing broken is no proof.** What happens once in more tries than the table shows may have been missed. The tries are not independent of each other, so that no probability follows from their number.
- **A seed repeats the plan, not the run.** The requests and the faults depend on it; how they meet depends on the machine.
- **A checker sees what it was written to see.** [Decision 049](decisions/049-what-the-campaign-judges.md) says what is judged and what is not. That each checker can go red is shown by planted faults: \`npm run campaign -- --plants\` tries them all.
- **Not every read is held to what was acknowledged.** Rows that count their updates are, by their counts, and rows of customers and products by their versions and by whether they are there; speakers in exports alone, and warehouses and customers not at all. Exports of rows of customers are held to which rows there are, and not to their cells.
- **Many failures are excused.** While something is broken, and for some seconds after, requests that need it may fail. How many did is noted for [each topology](#each-topology) and not judged. The number beside “Failures have a cause” is that of the requests that had no excuse. Failures on a machine without time, where a tenth of all answers take longer than a second, are noted and not counted as broken, as long as they are few.
- **What could not be broken on a topology** is listed below it.`

const HOW_IT_WORKS = `## How it works
Every connection between two parts goes through a proxy of the campaign, which can break it at each step of its protocol. Faults are dealt like cards by a seed, so that each kind has its turn before one has its second. Now and then there is a pause that is long enough for everything to recover, and for some seconds in which nothing may fail. A run of a minute is over before each kind had its turn; with \`--each-fault\` it goes on until then. In the end everything is mended; every gateway must be ready and answer a read and a write within 30 seconds, no process may have ended by itself, and none may log an error while nothing is broken. Then the checkers read the history once, and ask the database for the rows that are left. The reasons are in [decision 050](decisions/050-how-the-campaign-breaks-things.md), the databases in [decision 047](decisions/047-the-databases-of-the-campaign.md).

## Run it yourself
\`\`\`sh
npm run campaign -- --topology sqlite --seconds 60
\`\`\`

\`--help\` lists the options. It prints its seed, and writes the history, the rows and the verdict of each topology below \`--out\`. \`--replay <folder>\` runs the plan of an earlier run again, and \`--check <folder>\` judges its history again; the folder is that of one topology, such as \`.data/campaign/sqlite\`. This page, but for the [notes](#notes) at its end, is written by \`npm run campaign -- --publish --out <folder>\` from the newest verdict of each topology that is in the folder; nothing runs for that.

### When a promise was broken
The command ends with code 1 and prints up to ten sentences for each promise that was broken; \`verdict.json\` has all of them. An id such as \`counters-0-7\` is that of a request, its \`X-Request-Id\`: \`grep '"counters-0-7"' history.jsonl\` shows what was sent, what was answered and when, in milliseconds since the beginning. Lines with \`injury\` say what was broken at that time. One defect often breaks several promises: begin with the sentence whose request came first. Then \`--replay\` the run, or make a shorter one with \`--fault\` for the faults that were there at that time. [Planted faults](decisions/051-planted-faults.md) show what it looks like: \`npm run campaign -- --topology sqlite --plant read-kept-by-a-gateway\`.`
