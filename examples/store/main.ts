import { startDataService } from '../../data-service/start.js'
import { store } from './store.js'

await startDataService(store)
