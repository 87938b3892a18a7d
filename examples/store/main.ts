import { startDataService } from '../../data-service/public/service.js'
import { store } from './store.js'

await startDataService(store)
