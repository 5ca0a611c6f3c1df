import { grantsOf } from '#lib/permissions.ts';
import { permissionsOf } from '#shared/route.ts';
import { allFunctions, allRoutes } from '#shared/routes.ts';
import { ITEM_PREFIXES } from '#shared/table/keys.ts';
import { itForAll } from '#test/for-all.ts';
import { COMPLETE, resourcesOf, templatesOf } from './synthesized.ts';

interface Statement {
  readonly Action: string | readonly string[];
  readonly Resource: unknown;
  readonly Effect: string;
  readonly Condition?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

const { api, data } = templatesOf('prod', {
  ...COMPLETE,
  staticEgress: { natGateways: 'one', zones: 'first-two' },
});

const listOf = <T>(value: T | readonly T[]): readonly T[] => (Array.isArray(value) ? value : [value as T]);

const statementsOf = (roleIdPart: string): Statement[] =>
  Object.entries(resourcesOf(api, 'AWS::IAM::Role'))
    .filter(([id]) => id.startsWith(roleIdPart))
    .flatMap(([, { Properties }]) => Properties.Policies ?? [])
    .flatMap(({ PolicyDocument }) => PolicyDocument.Statement);

const everyStatement = statementsOf('');

const statementsOfFunction = (name: string): Statement[] => statementsOf(`${name.replaceAll('-', '')}Role`);

const actionsOf = (name: string): string[] =>
  statementsOfFunction(name)
    .flatMap(({ Action }) => listOf(Action))
    .sort();

const isOnTable = ({ Action }: Statement): boolean =>
  listOf(Action).some((action) => action.startsWith('dynamodb:'));

/** Returns each pair of an action and a key prefix that a function's policy allows, as `GetItem USERS#`. */
const grantedOnTable = (name: string): string[] =>
  statementsOfFunction(name)
    .filter(isOnTable)
    .flatMap(({ Action, Condition }) =>
      listOf(Action).flatMap((action) =>
        listOf(Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'] as string[]).map(
          (pattern) => `${action.replace('dynamodb:', '')} ${pattern.replace(/\*$/, '')}`,
        ),
      ),
    )
    .sort();

/** Actions that AWS grants on `*` only. */
const WITHOUT_RESOURCE =
  /^(?:cloudwatch:DescribeAlarms|ec2:\w+(?:NetworkInterface|Subnet|PrivateIpAddresse)s?)$/;

const EVERY_FUNCTION = ['logs:CreateLogStream', 'logs:PutLogEvents'];

const namesWith = (action: string): string[] =>
  allRoutes.filter(({ name }) => actionsOf(name).includes(action)).map(({ name }) => name);

describe('every policy', () => {
  test('is read by this test: each function has at least two statements', () => {
    expect(everyStatement.length).toBeGreaterThan(allRoutes.length * 2);
  });

  test('names its actions without wildcards', () => {
    const actions = everyStatement.flatMap(({ Action }) => listOf(Action));
    expect(actions.filter((action) => action.includes('*'))).toEqual([]);
  });

  test('names its resources, except for network interfaces and DescribeAlarms, which allow none', () => {
    const onEverything = everyStatement.filter(({ Resource }) => listOf(Resource).includes('*'));
    const actions = onEverything.flatMap(({ Action }) => listOf(Action));
    expect(actions.filter((action) => !WITHOUT_RESOURCE.test(action))).toEqual([]);
  });

  test('lets Lambda create network interfaces and denies them to the code of the function', () => {
    for (const name of ['create-user', 'send-otp']) {
      const onNetwork = statementsOfFunction(name).filter(({ Action }) =>
        listOf(Action).includes('ec2:CreateNetworkInterface'),
      );
      expect(onNetwork.map(({ Effect }) => Effect)).toEqual(['Allow', 'Deny']);
      const [allowed, denied] = onNetwork;
      expect(listOf(allowed?.Action)).toEqual(expect.arrayContaining([...listOf(denied?.Action)]));
      expect(listOf(denied?.Action)).toContain('ec2:CreateNetworkInterface');
      expect(allowed?.Condition).toBeUndefined();
      expect(JSON.stringify(denied?.Condition)).toMatch(
        /^\{"ArnLike":\{"lambda:SourceFunctionArn":.*:function:\*"/,
      );
    }
  });

  test('is an inline policy of the function role', () => {
    const added = Object.keys(resourcesOf(api, 'AWS::IAM::Policy'));
    expect(added).toEqual([]);
    const roles = Object.entries(resourcesOf(api, 'AWS::IAM::Role')).filter(([id]) => id.includes('Role'));
    const managed = roles.filter(([, { Properties }]) => Properties.ManagedPolicyArns !== undefined);
    // CDK makes the second one, of the function that runs the check of a deploy.
    expect(managed.map(([id]) => id)).toEqual([
      expect.stringMatching(/^ApiCloudWatchRole/),
      expect.stringMatching(/^AWSCDKTriggerCustomResourceProvider/),
    ]);
  });
});

describe('grants on the table', () => {
  itForAll(allFunctions.map((row) => [row.name, row] as const))(
    'are exactly the actions and key prefixes of each row',
    (name, row) => {
      const expected = Object.entries(permissionsOf(row).table ?? {}).flatMap(([prefix, actions]) =>
        actions.map((action) => `${action} ${prefix}`),
      );
      expect(grantedOnTable(name)).toEqual(expected.sort());
    },
  );

  test('every statement of a row denies a request without partition keys, for which ForAllValues alone is true', () => {
    const statements = allRoutes.flatMap(({ name }) => statementsOfFunction(name).filter(isOnTable));
    expect(statements.length).toBeGreaterThan(4);
    for (const { Condition } of statements) {
      expect(Object.keys(Condition ?? {})).toEqual(
        expect.arrayContaining(['ForAllValues:StringLike', 'Null']),
      );
      expect(Condition?.Null).toEqual({ 'dynamodb:LeadingKeys': 'false' });
    }
  });

  /** The condition on the attributes of each function that may update the items of a prefix. */
  const attributesOfUpdates = (prefix: string) =>
    Object.fromEntries(
      allRoutes.flatMap(({ name }) =>
        statementsOfFunction(name)
          .filter(({ Action, Condition }) => {
            const prefixes = Condition?.['ForAllValues:StringLike']?.['dynamodb:LeadingKeys'];
            return Action === 'dynamodb:UpdateItem' && listOf(prefixes).includes(`${prefix}*`);
          })
          .map(({ Condition }) => [name, Condition?.['ForAllValues:StringEquals']]),
      ),
    );

  test('an update of a seller may name the counts only, except for the rotation, which updates a key of the seller', () => {
    const counts = { 'dynamodb:Attributes': ['pk', 'sk', 'user_count', 'removed_count', 'event_count'] };
    expect(attributesOfUpdates('SELLER#')).toEqual({
      'create-user': counts,
      'update-user': counts,
      'check-user': counts,
      'delete-user': counts,
      'end-link': counts,
      'rotate-key': undefined,
    });
  });

  test('the end of a link may take away the code of a phone, but not its failures, its lock and its sends', () => {
    const ofCode = ['pk', 'sk', 'version', 'mac', 'code_expires_at', 'tries', 'provider'];
    expect(attributesOfUpdates('CODE#')).toEqual({
      'end-link': { 'dynamodb:Attributes': ofCode },
      'send-otp': undefined,
      'verify-otp': undefined,
    });
  });

  test('no prefix is the beginning of another one, so a pattern matches one kind of item', () => {
    for (const prefix of ITEM_PREFIXES) {
      expect(ITEM_PREFIXES.filter((other) => other.startsWith(prefix))).toEqual([prefix]);
    }
  });

  test('the rotation alone writes key secrets and audit records, and no function of a row reads them', () => {
    const granted = allRoutes.flatMap(({ name }) =>
      grantedOnTable(name)
        .filter((grant) => /(?:SECRET|AUDIT)#$/.test(grant))
        .map((grant) => `${name}: ${grant}`),
    );
    expect(granted.sort()).toEqual([
      'rotate-key: DeleteItem SECRET#',
      'rotate-key: PutItem AUDIT#',
      'rotate-key: UpdateItem SECRET#',
    ]);
  });

  test('all prefixes of an action are in one statement, since a BatchGetItem can name several', () => {
    const table = { 'BUYER#': ['GetItem', 'BatchGetItem'], 'PERSON#': ['BatchGetItem'] } as const;
    const resources = {
      tableArns: ['table'],
      hashSecretArn: '',
      providerSecretArn: '',
      signingKeyArns: [''],
    } as const;
    const statements = grantsOf({ permissions: { table } }, resources).map((statement) =>
      statement.toStatementJson(),
    );
    expect(statements.map(({ Action, Condition }) => [Action, Condition['ForAllValues:StringLike']])).toEqual(
      [
        ['dynamodb:GetItem', { 'dynamodb:LeadingKeys': ['BUYER#*'] }],
        ['dynamodb:BatchGetItem', { 'dynamodb:LeadingKeys': ['BUYER#*', 'PERSON#*'] }],
      ],
    );
  });

  test('the authorizer reads key secrets and writes nothing', () => {
    const own = statementsOfFunction('authorizer').filter(isOnTable);
    expect(own.map(({ Action, Condition }) => ({ Action, Condition }))).toEqual([
      {
        Action: 'dynamodb:GetItem',
        Condition: {
          'ForAllValues:StringLike': { 'dynamodb:LeadingKeys': ['SECRET#*'] },
          Null: { 'dynamodb:LeadingKeys': 'false' },
        },
      },
    ]);
    const others = actionsOf('authorizer').filter((action) => !action.startsWith('dynamodb:'));
    expect(others).toEqual(EVERY_FUNCTION);
  });
});

describe('grants on keys and secrets', () => {
  test('a function without permissions may write its log only', () => {
    expect(actionsOf('get-openapi')).toEqual(EVERY_FUNCTION);
  });

  test('get-jwks may read public keys and cannot sign', () => {
    expect(actionsOf('get-jwks')).toEqual(['kms:GetPublicKey', ...EVERY_FUNCTION].sort());
  });

  test('only verify-otp can sign', () => {
    expect(namesWith('kms:Sign')).toEqual(['verify-otp']);
  });

  test('exactly the functions that use hashes or providers can read a secret', () => {
    const users = allRoutes.filter(
      ({ permissions: { hashes, identityRegistry, sms } }) => hashes || identityRegistry || sms,
    );
    expect(namesWith('secretsmanager:GetSecretValue')).toEqual(users.map(({ name }) => name));
    expect(users.map(({ name }) => name)).toContain('send-otp');
    // Secrets Manager appends a hyphen and six characters to the name of a secret in its ARN.
    for (const name of ['create-user', 'check-user', 'send-otp']) {
      expect(JSON.stringify(statementsOfFunction(name))).toContain(
        ':secret:buyer-linking/prod/providers-??????"',
      );
    }
  });

  test('the canary can read the secret of its key and nothing else', () => {
    const [id] = Object.keys(resourcesOf(api, 'AWS::SecretsManager::Secret'));
    expect(actionsOf('canary')).toEqual([...EVERY_FUNCTION, 'secretsmanager:GetSecretValue'].sort());
    const [reads, ...others] = statementsOfFunction('canary').filter(({ Action }) =>
      listOf(Action).includes('secretsmanager:GetSecretValue'),
    );
    expect(reads).toMatchObject({ Effect: 'Allow', Resource: { Ref: id } });
    expect(others).toEqual([]);
  });

  test('no template holds the text of a secret', () => {
    const text = JSON.stringify([api.toJSON(), data.toJSON()]);
    expect(text).not.toMatch(/SecretString"\s*:\s*"[^{]/);
  });
});
