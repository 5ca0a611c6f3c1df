import { Validations } from 'aws-cdk-lib';
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
import type { LogGroupProps } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

/** A network whose outbound traffic has fixed addresses, which providers can allow-list: one for each NAT gateway. */
export interface StaticEgress {
  readonly vpc: IVpc;
  readonly securityGroup: ISecurityGroup;
  readonly addresses: readonly string[];
}

/** The ids of the Elastic IPs, by zone. The first one keeps its id, and so the address, whatever the setting. */
const ADDRESS_IDS = { 'one-zone': ['Address'], 'two-zones': ['Address', 'SecondAddress'] } as const;

/**
 * Adds a VPC for the functions that call providers: private subnets in two zones behind one NAT gateway or one in each zone, each with an
 * Elastic IP. DynamoDB has a gateway endpoint, which is free. Secrets Manager is called through a NAT gateway, a few times an hour.
 */
export const staticEgress = (
  parent: Construct,
  zones: keyof typeof ADDRESS_IDS,
  logs: LogGroupProps,
): StaticEgress => {
  const scope = new Construct(parent, 'Egress');
  const addresses = ADDRESS_IDS[zones].map((id) => new CfnEIP(scope, id, { domain: 'vpc' }));
  // Providers allow these addresses, and AWS gives a released address to somebody else: they are kept as the logs are.
  for (const address of addresses) address.applyRemovalPolicy(logs.removalPolicy);
  const gateways = NatProvider.gateway({
    eipAllocationIds: addresses.map(({ attrAllocationId }) => attrAllocationId),
  });
  const vpc = new Vpc(scope, 'Vpc', {
    maxAzs: 2,
    natGateways: addresses.length,
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
  const securityGroup = new SecurityGroup(scope, 'Functions', {
    vpc,
    description: 'Functions that call providers: HTTPS out, nothing in',
    allowAllOutbound: false,
  });
  securityGroup.addEgressRule(Peer.anyIpv4(), Port.tcp(443), 'Providers, and AWS services');
  return { vpc, securityGroup, addresses: addresses.map(({ ref }) => ref) };
};
