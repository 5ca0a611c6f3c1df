import { type RemovalPolicy, Validations } from 'aws-cdk-lib';
import {
  CfnEIP,
  GatewayVpcEndpointAwsService,
  type ISecurityGroup,
  type IVpc,
  NatProvider,
  Peer,
  Port,
  SecurityGroup,
  SubnetType,
  Vpc,
} from 'aws-cdk-lib/aws-ec2';
import { Construct } from 'constructs';
import type { Config } from './config.ts';

/** A network whose outbound traffic has fixed addresses, which providers can allow-list: one for each NAT gateway. */
export interface StaticEgress {
  readonly vpc: IVpc;
  readonly securityGroup: ISecurityGroup;
  readonly addresses: readonly string[];
}

/** The ids of the Elastic IPs. The first one keeps its id, and so the address, whatever the setting. */
const ADDRESS_IDS = { one: ['Address'], 'one-in-each-zone': ['Address', 'SecondAddress'] } as const;

/** Adds private subnets in two zones, whose outbound traffic goes through the NAT gateways. DynamoDB has a gateway endpoint, which is free. */
const network = (
  scope: Construct,
  gateways: NatProvider,
  egress: NonNullable<Config['staticEgress']>,
): Vpc => {
  const { natGateways, zones } = egress;
  const vpc = new Vpc(scope, 'Vpc', {
    ...(zones === 'first-two' ? { maxAzs: 2 } : { availabilityZones: [...zones] }),
    natGateways: ADDRESS_IDS[natGateways].length,
    natGatewayProvider: gateways,
    subnetConfiguration: [
      { name: 'public', subnetType: SubnetType.PUBLIC, cidrMask: 28, mapPublicIpOnLaunch: false },
      { name: 'functions', subnetType: SubnetType.PRIVATE_WITH_EGRESS, cidrMask: 22 },
    ],
    gatewayEndpoints: { DynamoDb: { service: GatewayVpcEndpointAwsService.DYNAMODB } },
    // Emptying the default security group takes a custom resource with its own function, and nothing of this stack is in that group.
    restrictDefaultSecurityGroup: false,
  });
  Validations.of(vpc).acknowledge({
    id: 'AwsSolutions-VPC7',
    reason:
      'No runbook reads a flow log: nothing connects to this network, and each call out has a line in the log of its function.',
  });
  return vpc;
};

/**
 * Adds the network of the functions that call providers, with an Elastic IP for each NAT gateway. Secrets Manager is called through a NAT
 * gateway, a few times an hour.
 */
export const staticEgress = (
  parent: Construct,
  egress: NonNullable<Config['staticEgress']>,
  removalPolicy: RemovalPolicy,
): StaticEgress => {
  const scope = new Construct(parent, 'Egress');
  const addresses = ADDRESS_IDS[egress.natGateways].map((id) => new CfnEIP(scope, id, { domain: 'vpc' }));
  // Providers allow these addresses, and AWS gives a released address to somebody else: they are kept as the logs are.
  for (const address of addresses) address.applyRemovalPolicy(removalPolicy);
  const gateways = NatProvider.gateway({
    eipAllocationIds: addresses.map(({ attrAllocationId }) => attrAllocationId),
  });
  const vpc = network(scope, gateways, egress);
  const securityGroup = new SecurityGroup(scope, 'Functions', {
    vpc,
    description: 'Functions that call providers: HTTPS out, nothing in',
    allowAllOutbound: false,
  });
  securityGroup.addEgressRule(Peer.anyIpv4(), Port.tcp(443), 'Providers, and AWS services');
  return { vpc, securityGroup, addresses: addresses.map(({ ref }) => ref) };
};
