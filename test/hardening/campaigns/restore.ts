import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { readAdminTarget } from '#local/admin-target.ts';
import { ensureTable } from '#local/table.ts';
import { openTable, type Table } from '#shared/table/client.ts';
import { damage, itemsIn, putAll } from '#test/admin/operations/restored-table.ts';
import { call } from '../api.ts';
import { keyIn } from '../deployment.ts';
import { personAt } from '../people.ts';
import type { Campaign, CampaignOptions } from './campaign.ts';
