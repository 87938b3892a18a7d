import { Deployment } from './deployment.js'

const NODES = ['database', 'database-2', 'database-3']

describe('the containers with three database nodes', function () {
  this.timeout(900_000)
  const deployment = new Deployment()
  before(() =>
    deployment.start('Three database nodes', {
      name: 'uniform-rest-galera-test',
      files: ['docker-compose.yml', 'docker-compose.galera.yml']
    })
  )
  after(() => deployment.stop())

  const clusterSize = (node: string): Promise<string> =>
    deployment.project.exec(
      node,
      'sh',
      '-c',
      `mariadb --user=root --password="$(cat "$MARIADB_ROOT_PASSWORD_FILE")" --skip-column-names \\
        --execute="SELECT variable_value FROM information_schema.global_status WHERE variable_name = 'wsrep_cluster_size'"`
    )
  // A node that joins takes over the data of another one first, and a gateway answers before the last has done so.
  const joined = async (): Promise<void> => {
    for (const node of NODES) {
      await deployment.project.eventually(`${node} has joined`, 60_000, async () => (await clusterSize(node)) === '3')
    }
  }

  it('are one cluster', () => joined())

  it('are killed in turn, every acknowledged create is there once, and nothing fails after the recovery', async () => {
    await deployment.killInTurn(NODES, 'node-killed')
    await joined()
  })
})
